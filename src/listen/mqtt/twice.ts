import { createHash } from 'node:crypto'
import type { Outcome } from '../../ingest/ingest.ts'

/** The QoS 2 messages of a session that are not released yet, by packet identifier. */
export type Unreleased = Map<number, { readonly digest: string; readonly outcome: Promise<Outcome> }>

/** A QoS 2 PUBLISH. */
interface Published {
  readonly messageId: number
  readonly topic: string
  readonly payload: Buffer
}

/**
 * Stores a message unless it is the same as one that was received before and not released since: then what became of
 * that one. A device that lost its memory may use an identifier for something new, so that only the same bytes are the same.
 */
export async function storeOnce(
  unreleased: Unreleased,
  message: Published,
  store: () => Promise<Outcome>,
): Promise<Outcome> {
  const { messageId, topic, payload } = message
  const digest = createHash('sha256').update(topic).update('\n').update(payload).digest('base64')
  const before = unreleased.get(messageId)
  if (before?.digest === digest) return before.outcome

  const entry = { digest, outcome: store() }
  unreleased.delete(messageId)
  unreleased.set(messageId, entry)
  if (unreleased.size > MAX_UNRELEASED) unreleased.delete(unreleased.keys().next().value as number)
  const stored = await entry.outcome.then(
    ({ status }) => status === 'stored',
    () => false,
  )
  if (!stored && unreleased.get(messageId) === entry) unreleased.delete(messageId)
  return entry.outcome
}

/** The oldest is forgotten: at worst its message is stored twice. */
const MAX_UNRELEASED = 1000
