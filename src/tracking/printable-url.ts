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
  return text.replace(PARAMETER, (_, separator: string, name: string, value: string) => {
    return `${separator}${name}=${SECRET_NAME.test(decoded(name)) ? '***' : withoutSecrets(value)}`
  })
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

const USER = /(\/\/)[^/?#\s]*@/g
const PARAMETER = /([?&#;])([^=?&#;\s]*)=([^&#\s]*)/g
const SECRET_NAME = /^(?:api_?key|(?:oauth_?|access_?)?token|secret|password)$/i
