/**
 * The URL as it may be logged or shown: no user name, password, apikey or other secret parameter.
 * Takes any text, complete URLs, paths and what is neither; never throws.
 */
export function printableUrl(url: string | URL): string {
  return withoutSecrets(withoutUser(String(url)))
}

function withoutUser(url: string): string {
  if (!URL.canParse(url)) return url.replace(USER, '$1***@')
  const parsed = new URL(url)
  if (parsed.username || parsed.password) {
    parsed.username = '***'
    parsed.password = ''
  }
  return parsed.href
}

/** What looks like a value may hold further parameters. */
function withoutSecrets(text: string): string {
  const parts: string[] = []
  let at = 0
  for (const { 0: start, 1: name, index } of text.matchAll(PARAMETER)) {
    if (index < at || !SECRET_NAME.test(decoded(name))) continue
    const value = index + start.length
    parts.push(text.slice(at, value), '***')
    at = endOfValue(text, value)
  }
  return parts.join('') + text.slice(at)
}

function endOfValue(text: string, from: number): number {
  const length = text.slice(from).search(/[&#\s]/)
  return length === -1 ? text.length : from + length
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

const USER = /(\/\/)[^/?#\s]*@/g
const PARAMETER = /[?&#;]([^=?&#;\s]*)=/g
const SECRET_NAME = /^(?:api_?key|(?:oauth_?|access_?)?token|secret|password)$/i
