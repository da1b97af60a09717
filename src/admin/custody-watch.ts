import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from '../observe/log.ts'
import type { Account, Custody } from './account.ts'

/**
 * Takes the account again and again. Two that are the same show that nothing moved: a difference then is fixes that are lost,
 * or counted twice. It is logged as an error once, and again when it changes.
 */
export function watchCustody(
  account: () => Promise<Account>,
  logger: Logger,
  { everyMs = EVERY_MS } = {},
): { readonly close: () => void } {
  const stopping = new AbortController()
  let last: Custody | undefined
  let known = 0

  function compare(custody: Custody): void {
    const { difference } = custody
    const settled = isDeepStrictEqual(custody, last)
    last = custody
    if (!settled || difference === known) return
    known = difference
    if (difference === 0) logger.info({ custody }, 'custody: every fix is accounted for again')
    else logger.error({ custody }, `custody: ${sentence(difference)}`)
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      await account().then(
        ({ custody }) => compare(custody),
        () => (last = undefined),
      )
      await sleep(everyMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }

  void loop()
  return { close: () => stopping.abort() }
}

function sentence(difference: number): string {
  if (difference > 0) return `${difference} fixes that were received are nowhere`
  return `${-difference} fixes more are accounted for than were received`
}

const EVERY_MS = 5000
