interface CookieOptions {
  readonly sameSite: 'Lax' | 'Strict'
  /** 0 deletes it; without it, it ends with the browser. */
  readonly maxAgeS?: number
}

/** The name of a cookie. With https no other host of the domain can set one of this name, and it is never sent without. */
export function cookieName(name: string, isSecure: boolean): string {
  return isSecure ? HOST + name : name
}

/** The header that sets a cookie which no script can read. */
export function setCookie(name: string, value: string, { sameSite, maxAgeS }: CookieOptions): string {
  const parts = [`${name}=${value}`, 'Path=/', 'HttpOnly', `SameSite=${sameSite}`]
  if (maxAgeS !== undefined) parts.push(`Max-Age=${maxAgeS}`)
  if (name.startsWith(HOST)) parts.push('Secure')
  return parts.join('; ')
}

/** The cookies of a request by their names. */
export function cookiesOf({ cookie = '' }: { readonly cookie?: string }): ReadonlyMap<string, string> {
  return new Map(
    cookie.split(';').flatMap((pair) => {
      const at = pair.indexOf('=')
      return at < 0 ? [] : [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const]
    }),
  )
}

const HOST = '__Host-'
