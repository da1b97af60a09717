const KEY = 'waybridge.token'
/** The view to come back to after a sign-in. */
const VIEW_KEY = 'waybridge.view'

/** Why a person is not signed in, from the page's address. */
export let signInFault: string | undefined

/** Goes to the provider, where a person signs in. */
export function goToSignIn(): void {
  sessionStorage.setItem(VIEW_KEY, location.hash)
  location.assign('/admin/oidc/login')
}

/**
 * After the return from the provider: takes the reason of a failure, `#sign-in=…`, from the address, and shows the earlier
 * view.
 */
export function takeSignIn(): void {
  signInFault = /^#sign-in=(\w+)$/.exec(location.hash)?.[1]
  const view = sessionStorage.getItem(VIEW_KEY)
  if (signInFault !== undefined || (view !== null && location.hash === ''))
    history.replaceState(null, '', location.pathname + (view ?? '#/'))
  sessionStorage.removeItem(VIEW_KEY)
}

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

/** Stores a token, even one that a header cannot carry; the admin port is then not asked with it. */
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
