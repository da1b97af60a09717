import { pino } from 'pino'
import { protocolPorts } from '../../protocols/index.ts'
import { usualListeners } from '../../src/config/listener.ts'
import { OpenNotes } from '../../src/gateway/day-book.ts'
import { Journal, type JournalOptions } from '../../src/gateway/journal.ts'

/** Books that keep nothing. */
export const QUIET_BOOKS: JournalOptions = {
  heard: {
    of: () => ({
      spoke: () => {},
      sentBefore: () => {},
      stored: () => {},
      said: () => {},
      behindMs: 0,
      became: () => {},
    }),
    gone: () => {},
  },
  days: { of: () => new OpenNotes() },
  watchedFrames: { isIdle: true, keep: () => {} },
  arrivals: { notUnderstood: () => {}, refused: () => {}, unconfigured: () => {} },
  listeners: usualListeners(protocolPorts),
  logger: pino({ level: 'silent' }),
}

/** A journal that writes the given books, and no others. */
export function journalOf(books: Partial<JournalOptions> = {}): Journal {
  return new Journal({ ...QUIET_BOOKS, ...books })
}
