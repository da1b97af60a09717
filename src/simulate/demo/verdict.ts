import type { Outcome } from '../simulation.ts'
import type { Account } from './account.ts'
import type { Status } from './status.ts'

/** How a demo ended. */
export interface Ending {
  readonly account: Account
  /** How many times more than once the service received a position. */
  readonly duplicates: number
  readonly outcome?: Outcome
  /** The last that the admin port said. */
  readonly status?: Status
}

/** Nothing was sent: it was interrupted before. */
export const NOTHING: Ending = { account: { sent: 0, acked: 0, delivered: 0, lost: 0 }, duplicates: 0 }

/** Whether everything that was sent was acknowledged and is there. */
export function isWhole({ account }: Ending): boolean {
  return account.lost === 0 && account.acked === account.sent
}

/** What to make of it, in sentences. */
export function verdict(ending: Ending): string[] {
  const { account, outcome, status } = ending
  const { sent, acked, lost } = account
  if (isWhole(ending))
    return sent === 0 ? [] : [`All ${sent} fixes were acknowledged and read back, each in its time and place.`]
  const sentences: string[] = []
  if (acked < sent)
    sentences.push(`${sent - acked} fixes were not acknowledged: ${outcome?.trouble ?? 'it was stopped'}.`)
  if (lost > 0) {
    const where = status && `${status.waiting} waiting, ${status.parked} parked, ${status.filtered} filtered`
    sentences.push(
      `${lost} acknowledged fixes are not at the tracking service; the gateway has ${where ?? 'not said'}.`,
    )
  }
  return sentences
}

/** The line for programs. */
export function lastLine({ account: { sent, acked, delivered, lost }, duplicates }: Ending): string {
  return `sent=${sent} acked=${acked} delivered=${delivered} lost=${lost} duplicates=${duplicates}`
}
