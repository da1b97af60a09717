import { DecodeError, type Fix, type Message, type Protocol, type Said } from '../../protocols/kit/index.ts'
import type { Device } from '../../src/config/devices.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { FixStorage, type FixStorageOptions } from '../../src/gateway/fix-storage.ts'
import { GuessDelays } from '../../src/gateway/guesses.ts'
import { Trails } from '../../src/gateway/suspicion.ts'
import { UnknownDeviceQuota } from '../../src/gateway/unknown-devices.ts'
import type { Journal, JournalOptions } from '../../src/gateway/journal.ts'
import type { FilterOptions, HoldOptions } from '../../src/gateway/place.ts'
import { Ingest, type IngestOptions } from '../../src/gateway/take.ts'
import { createLogger } from '../../src/observe/log.ts'
import type { Assignment } from '../../src/roster/assignment.ts'
import type { DeviceSecrets } from '../../src/roster/device-secrets.ts'
import type { Stored } from '../../src/store/appender.ts'
import type { KeptFrame, Part, Storable } from '../../src/store/index.ts'
import type { MisunderstoodFrame } from '../../src/store/misunderstood-frame.ts'
import { journalOf, QUIET_BOOKS } from './journal.ts'
import { createDirectory } from './roster.ts'
import type { DeviceRecord } from '../../src/store/device-record.ts'
import type { SaidTimes } from '../../src/store/said.ts'
import { NO_MAPPINGS, NO_SECRETS } from './unconfigured.ts'

export const NOW_S = Math.floor(Date.now() / 1000)
const HOLD = { unknown: false, no_route: false, clock: false, max_age: 86_400_000 }
const FILTER = { uereM: 5, defaultAccuracyM: 50, maxFutureMs: 300_000, maxAgeMs: null, holdsSuspicious: false }
const logger = createLogger('test', { level: 'fatal', format: 'json' })
/** A device without a secret. */
export const van: Device = {
  id: '0356307042441013',
  company_id: '7',
  courier_id: '42',
  route_id: '1001',
  source: 'devices.yaml:1',
}

/** A protocol whose frames are the messages, as JSON; `throw` is what the decoder throws. */
const spoken: Protocol = {
  name: 'spoken',
  devices: 'none',
  acknowledges: 'fixes',
  decode(frame, session) {
    const { reply, fault, settled, ...message } = JSON.parse(frame.toString())
    const answer = settled ? JSON.stringify(session.settingsOf(message.device)) : reply
    if (fault === 'decode') throw new DecodeError('checksum')
    if (fault) throw new TypeError(fault)
    return { ...message, reply: answer && Buffer.from(answer), refusal: Buffer.from('no') } satisfies Message
  },
}
/** A fix of a time, ms UTC. */
export const at = (time: number, changes: Partial<Fix> = {}): Fix => ({
  time,
  latitude: 52.5,
  longitude: 13.4,
  valid: true,
  ...changes,
})

/** The lane of a part, or why it is held. */
export const placeOf = (part: Part) => ('lane' in part ? part.lane : `held: ${part.held}`)

export interface IngestSetup {
  devices?: Device[]
  lines?: Assignment[]
  isCurrent?: boolean
  fails?: boolean
  shortage?: 'memory' | 'parked'
  /** A lane that takes nothing, while it is set in `state`. */
  fullLane?: string
  /** Whether there is room for frames that are not understood. */
  hasRoom?: boolean
  hold?: Partial<HoldOptions>
  filter?: Partial<FilterOptions>
  isClockInDoubt?: boolean
  answer?: Partial<Stored>
  waitMs?: number
  /** A tenth of them may come from one network. */
  maxUnknownDevices?: number
  watchedFrames?: JournalOptions['watchedFrames']
  days?: JournalOptions['days']
  /** In place of one whose books are in memory. */
  journal?: Journal
  secrets?: Pick<DeviceSecrets, 'of'>
}

/** The path of frames without Redis. `isCurrent`, `fails` and `devices` may change. */
export async function gateway({
  devices = [van],
  lines = [],
  isCurrent = true,
  fails = false,
  shortage,
  fullLane,
  hasRoom = true,
  hold,
  filter,
  isClockInDoubt = false,
  answer,
  waitMs = 0,
  maxUnknownDevices = 20,
  watchedFrames = QUIET_BOOKS.watchedFrames,
  days = QUIET_BOOKS.days,
  journal,
  secrets = NO_SECRETS,
}: IngestSetup = {}) {
  const stored: Storable[] = []
  const counted: string[] = []
  const heard = new Map<string, DeviceRecord>()
  const told: string[] = []
  const said: [device: string, said: Said, times: SaidTimes][] = []
  const contacts: [device: string, session: Conversation][] = []
  const frames: KeptFrame[] = []
  const roster = await createDirectory(devices, lines)
  const state = { current: isCurrent, fails, attempts: 0, version: 0, roster, fullLane }
  const book: JournalOptions['heard'] = {
    of: (device) => ({
      sentBefore: () => {},
      spoke(from) {
        contacts.push([device, from])
        heard.set(device, heard.get(device) ?? { at: 0, transport: 'tcp', remote: '', gateway: '' })
      },
      stored: ({ fix, filtered }) =>
        void Object.assign(heard.get(device) ?? {}, fix && { fix }, filtered && { filtered }),
      said: (words, times) => void said.push([device, words, times]),
      behindMs: 0,
      became: (treatment, what) => void told.push(`${device} ${treatment} ${what}`),
    }),
    gone: () => {},
  }
  const storing: FixStorageOptions & Pick<IngestOptions, 'capacity'> = {
    replica: state,
    filter: { ...FILTER, ...filter },
    hold: { ...HOLD, ...hold },
    clock: { isInDoubt: isClockInDoubt, jumps: 0, now: () => Date.now() },
    capacity: {
      hasShortage: shortage !== undefined || fullLane !== undefined,
      isFull: shortage === 'memory',
      shortageFor: (parts) =>
        parts.some((part) => placeOf(part) === state.fullLane) ? 'parked' : parts.length > 0 ? shortage : undefined,
    },
    holding: { marking: undefined },
    trails: new Trails(),
    appender: {
      append: async (item) => {
        state.attempts++
        if (state.fails) throw new Error('no Redis')
        stored.push(item)
        return { duplicates: 0, refused: false, ...answer }
      },
      count: (reasons) => void counted.push(...reasons),
    },
  }
  const ingest = new Ingest({
    ...storing,
    storage: new FixStorage(storing),
    frameStore: {
      async keep(frame) {
        state.attempts++
        if (state.fails) throw new Error('no Redis')
        if (hasRoom) frames.push(frame)
        return hasRoom
      },
    },
    unknownDevices: new UnknownDeviceQuota(maxUnknownDevices),
    guesses: new GuessDelays(),
    enrolment: { isOpen: false },
    journal: journal ?? journalOf({ heard: book, watchedFrames, days, logger }),
    secrets,
    mappings: NO_MAPPINGS,
    waitMs: { tcp: waitMs, mqtt: waitMs, http: waitMs, udp: 0 },
  })
  const session = new Conversation('tcp', '127.0.0.1:1')
  /** What a device is told of a message. */
  const say = async (message: object, from = session) => {
    const outcome = await ingest.take(Buffer.from(JSON.stringify(message)), from, spoken)
    return {
      ...outcome,
      sender: undefined,
      shares: undefined,
      refusals: undefined,
      objections: undefined,
      kept: undefined,
      speaker: undefined,
    }
  }
  return {
    say,
    session,
    stored,
    counted,
    heard,
    told,
    /** What devices said beside their positions. */
    said,
    /** Who spoke, on which session. */
    contacts,
    state,
    ingest,
    frames,
    /** What is kept of the frames, latest last. */
    kept: () => frames.map(({ text }) => JSON.parse(text) as MisunderstoodFrame),
  }
}

/** A line of routes.csv for `van`, on route 9. */
export function line(courier_id: string, from: number, until: number): Assignment {
  return { device: van.id, courier_id, route_id: '9', from, until, source: 'routes.csv:2' }
}
