import { useEffect, useReducer } from 'preact/hooks'

/* The one clock of the page. All times are shown in the time zone of the roster, or in that of the browser if the reader wants. */

const KEY = 'waybridge.clock'
/** The time zone of the browser. */
const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone

let rosterZone: string | undefined
let isBrowsers = localStorage.getItem(KEY) === 'browser'
const subscribers = new Set<() => void>()

/** The time zone of all times on the page. */
export function zone(): string {
  return isBrowsers ? browserZone : (rosterZone ?? browserZone)
}

/** Takes over the time zone of the roster, which every status has. A zone that this browser does not know is not taken. */
export function setRosterZone(given: string): void {
  if (given === rosterZone || !isKnown(given)) return
  rosterZone = given
  tell()
}

/** Shows times in the browser's zone or in the roster's. The browser keeps the choice. */
function showBrowserZone(wanted: boolean): void {
  isBrowsers = wanted
  if (wanted) localStorage.setItem(KEY, 'browser')
  else localStorage.removeItem(KEY)
  tell()
}

/** The zone that is shown, and the one that can be switched to; redraws at a change. */
export function useClock(): { readonly zone: string; readonly other?: string; readonly change: () => void } {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const listener = () => redraw(undefined)
    subscribers.add(listener)
    return () => void subscribers.delete(listener)
  }, [])
  const other = isBrowsers ? rosterZone : browserZone
  return {
    zone: zone(),
    other: other === zone() ? undefined : other,
    change: () => showBrowserZone(!isBrowsers),
  }
}

function isKnown(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

function tell(): void {
  for (const subscriber of subscribers) subscriber()
}
