/**
 * Whether the text of gateway.yaml names a Redis of the user's own. Read without a YAML parser, since this runs before
 * there are packages: `start` reads it properly later.
 * @param {string} text
 */
export function needsNoPrivateRedis(text) {
  return /^redis:(?:[ \t]*\{[^}\n]*|.*\n(?:[ \t#].*\n)*?[ \t]+)\burl:[ \t]*(?!null\b|~)[^\s,}#]/m.test(text)
}
