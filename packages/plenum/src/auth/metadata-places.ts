// Where an authorization server tells of itself, in the order in which it is asked. Specification:
// basic/authorization/authorization-server-discovery; RFC 8414 § 3.1, OpenID Connect Discovery § 4.

/** Each once: without a path the last two are the same. */
export function metadataPlaces({ origin, pathname }: URL): readonly string[] {
  const path = pathname.replace(/\/$/, "");
  const places = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    `${path}/.well-known/openid-configuration`,
  ];
  return [...new Set(places)].map((place) => origin + place);
}
