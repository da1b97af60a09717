const KEY = 'waybridge.token'

/**
 * Takes the token of `#token=…` from the address, keeps it for this tab and removes it from the address and its history. A
 * deep link may follow: `#token=…&view=/vans`.
 */
export function takeToken(): void {
  const given = /^#token=([^&]*)(?:&view=(.*))?$/.exec(location.hash)
  if (!given) return
  const [, text, view] = given
  keepToken(decoded(text))
  history.replaceState(null, '', `${location.pathname}#${view ? decoded(view) : '/'}`)
}

export function token(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined
}

/** A token that a header cannot carry is kept as it is: the admin port is not asked with it. */
export function keepToken(text: string): void {
  sessionStorage.setItem(KEY, text.trim())
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
