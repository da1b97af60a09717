/**
 * The URL without its user name, password, apikey and other secret parameters, for logs and messages.
 * Takes any text: complete URLs, paths and anything else; never throws.
 */
export function printableUrl(url: string | URL): string {
  return withoutUser(String(url)).replace(SECRET_PARAMETER, '$1***')
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

/** A pattern for a parameter's name, each letter of which may be percent-encoded. */
function encodedName(name: string): string {
  return name.replaceAll(/[a-z]/g, (letter) => {
    const [lower, upper] = [letter, letter.toUpperCase()].map((each) => each.charCodeAt(0).toString(16))
    return `(?:${letter}|%${lower}|%${upper})`
  })
}

const USER = /(\/\/)[^/?#\s]*@/g
const NAMES = ['api_?key', '(?:oauth_?|access_?)?token', 'secret', 'password'].map(encodedName)
const SECRET_PARAMETER = new RegExp(`([?&#;](?:${NAMES.join('|')})=)[^&#\\s]*`, 'gi')
