// For tests of servers and clients, whatever runs them: a client in memory, conversations that are recorded and replayed, a
// clock that is turned by hand, and arguments made up from the schemas of tools.

export {
  type Conversation,
  type ConversationEvent,
  type ConversationHeader,
  formatConversation,
  parseConversation,
  revisionOf,
} from "./conversation.ts";
export { createFakeClock, type FakeClock, type FakeClockOptions } from "./fake-clock.ts";
export { type FuzzFailure, type FuzzKind, type FuzzOptions, type FuzzReport, fuzzTools } from "./fuzz.ts";
export {
  type ConversationSink,
  type RecordChannelOptions,
  type RecordOptions,
  recordChannel,
  recordTarget,
} from "./record.ts";
export { type ReplayClientOptions, type ReplayDifference, type ReplayReport, replayClient } from "./replay-client.ts";
export { type ReplayTargetOptions, replayTarget } from "./replay-target.ts";
export type {
  Answering,
  AnswerScript,
  AskedQuestion,
  ElicitAnswer,
  SampleAnswer,
  Scripted,
  VisitAnswer,
} from "./scripted-answers.ts";
export {
  createTestClient,
  type EveryRevisionOptions,
  inEveryRevision,
  type LogRecord,
  type PassedMessage,
  type TestClient,
  type TestClientOptions,
} from "./test-client.ts";
