import type { DecodeError, Message } from '../../../protocols/kit/index.ts'
import { sameId } from '../../domain/ids.ts'
import type { Replica } from '../../roster/replica.ts'
import {
  addTrial,
  countTriedDevices,
  type Store,
  TRIAL_ACCOUNT,
  TRIAL_COUNTS,
  type TrialAccount,
  type TrialCounts,
  type TrialDifference,
  type TriedDevice,
} from '../../store/index.ts'
import { Masking } from '../frame-description.ts'
import { doubtOf, type Outcome } from '../outcome.ts'
import { isHoldable } from '../unknown-devices.ts'
import type { Compared } from './comparison.ts'

/** What trials need from their gateway. */
export interface TrialShared {
  readonly book: Pick<TrialBook, 'took' | 'missed' | 'compared'>
  readonly replica: Pick<Replica, 'roster'>
}

/** Who sent something by way of a trial, as far as that is known. */
export interface TrialSender {
  readonly device?: string
  readonly protocol: string
  /** What it has presented. */
  readonly secrets: readonly (string | undefined)[]
}

/** Counts the equal and different answers of each device, and missed frames; in memory, and in Redis within a second. */
export class TrialBook {
  readonly #redis: Store
  readonly #replica: Pick<Replica, 'roster'>
  readonly #maxUnknown: number
  #account: TrialAccount = { ...NO_FRAMES }
  #devices = new Map<string, OpenTrial>()
  #known = 0
  /** Devices whose first difference is already noted. */
  readonly #differing = new Set<string>()

  /** `maxUnknown`: of how many devices that are not configured something is noted. */
  constructor(redis: Store, { replica, maxUnknown }: { replica: Pick<Replica, 'roster'>; maxUnknown: number }) {
    this.#redis = redis
    this.#replica = replica
    this.#maxUnknown = maxUnknown
  }

  /** Notes the outcome of a frame's copy. */
  took({ device, protocol }: TrialSender, outcome: Outcome): void {
    const { read } = outcome
    const isStored = outcome.status === 'stored'
    this.#account.seen++
    this.#account[isStored ? 'stored' : 'missed']++
    const { fixes = [], ...message } = isMessage(read) ? read : {}
    const isUnderstood = isMessage(read) && doubtOf(read) === undefined
    const positions = Map.groupBy(fixes, (fix) => fix.device ?? message.device ?? device)
    // A frame without a position is about the device of the conversation, that of a relay about those in it.
    for (const about of positions.size > 0 ? positions.keys() : [message.device ?? device]) {
      const open = this.#of(about, protocol)
      if (!open) continue
      open.counts.frames++
      open.counts.positions += positions.get(about)?.length ?? 0
      if (!isUnderstood) open.counts.not_understood++
    }
  }

  /** Counts bytes whose copy is missed: they are no frame, or there was no room to read them. */
  missed({ device, protocol }: TrialSender, isFrame: boolean): void {
    this.#account.seen++
    this.#account.missed++
    const open = isFrame ? this.#of(device, protocol) : undefined
    if (!open) return
    open.counts.frames++
    open.counts.not_understood++
  }

  /** An answer of the old server was compared with ours. */
  compared({ device = '', protocol, secrets }: TrialSender, compared: Compared): void {
    const open = this.#of(device, protocol)
    if (!open) return
    open.counts[compared.isEqual ? 'answers_equal' : 'answers_different']++
    // To look for secrets takes time: it is done once for each device.
    if (compared.isEqual || this.#differing.has(device)) return
    this.#differing.add(device)
    const masking = new Masking(secrets, this.#replica.roster.find(device), device)
    const hexOf = (bytes: Buffer) => {
      const shown = masking.mask(bytes.subarray(0, LOOKED_AT).toString('latin1')).slice(0, SHOWN_BYTES)
      return Buffer.from(shown, 'latin1').toString('hex')
    }
    const [frame, ours, old] = [compared.frame, compared.ours, compared.old].map(hexOf)
    open.difference = { at: Date.now(), frame, ours, old }
  }

  /** Writes the counts. Call it once a second. Rejects if Redis does not accept them; they are then written the next time. */
  async write(): Promise<void> {
    if (this.#account.seen === 0 && this.#devices.size === 0) return
    let account = this.#account
    const left = Array.from(this.#devices, ([device, open]) => ({ device, ...open }))
    this.#account = { ...NO_FRAMES }
    this.#devices = new Map()
    try {
      this.#known = await countTriedDevices(this.#redis)
      do {
        await addTrial(this.#redis, account, left.slice(0, AT_ONCE))
        account = NO_FRAMES
        left.splice(0, AT_ONCE)
      } while (left.length > 0)
    } catch (error) {
      this.#putBack(account, left)
      throw error
    }
  }

  /** Writes the last counts if Redis accepts them. */
  async close(): Promise<void> {
    await this.write().catch(() => {})
  }

  #of(device: string | undefined, protocol: string): OpenTrial | undefined {
    if (device === undefined || !isHoldable(device)) return undefined
    const entry = this.#replica.roster.find(device)
    const id = entry?.id ?? sameId(device)
    const open = this.#devices.get(id)
    if (open) return open
    // Ids that somebody invents do not fill Redis.
    if (!entry && this.#known + this.#devices.size > MOST_FOR_EACH * this.#maxUnknown) return undefined
    const begun: OpenTrial = { protocol, counts: { ...NO_COUNTS }, difference: undefined }
    this.#devices.set(id, begun)
    return begun
  }

  #putBack(account: TrialAccount, devices: readonly (OpenTrial & Pick<TriedDevice, 'device'>)[]): void {
    for (const name of TRIAL_ACCOUNT) this.#account[name] += account[name]
    for (const { device, ...before } of devices) {
      const open = this.#devices.get(device)
      if (!open) this.#devices.set(device, before)
      else {
        for (const name of TRIAL_COUNTS) open.counts[name] += before.counts[name]
        open.difference = before.difference ?? open.difference
      }
    }
  }
}

/** Counts that are not in Redis yet. */
interface OpenTrial {
  readonly protocol: string
  readonly counts: TrialCounts
  difference: TrialDifference | undefined
}

function isMessage(read: Message | DecodeError | undefined): read is Message {
  return read !== undefined && !(read instanceof Error)
}

const NO_FRAMES: TrialAccount = { seen: 0, stored: 0, missed: 0 }
const NO_COUNTS = Object.fromEntries(TRIAL_COUNTS.map((name) => [name, 0])) as TrialCounts
const SHOWN_BYTES = 64
const LOOKED_AT = 1024
/** Devices in one transaction, which takes Redis some milliseconds. */
const AT_ONCE = 500
/** How many devices may be noted in all before unknown ones are left out, for each that may be unknown. */
const MOST_FOR_EACH = 10
