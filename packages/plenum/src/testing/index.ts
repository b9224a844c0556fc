// For tests of servers and clients, whatever runs them: a client in memory, conversations that are recorded and replayed, a
// clock that is turned by hand, and arguments made up from the schemas of tools.

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
