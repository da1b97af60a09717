import { joined, say, type Template, type Text } from '../texts/text.ts'
import { alarmTroubles } from './alarms.ts'
import { ALWAYS_NAMED, type FindingCode, NOT_TAKEN } from './codes.ts'
import type { DeviceFacts, DeviceGroup, LostSender, MeantEntry, TroubledDevice } from './device-facts.ts'
import { isAsleep, isParked, leastSilenceMs, longestSleepMs, MOVING_M_PER_S, silenceMs } from './parked.ts'

/** The condition of a device, in one word; src/diagnose/conditions.md explains how each is decided. */
export const CONDITIONS = [
  'moving',
  'standing',
  'parked',
  'silent',
  'gps_old',
  'no_route',
  'held',
  'never',
  'unknown',
] as const
export type DeviceCondition = (typeof CONDITIONS)[number]

/** Pure: what a device does at `now`, ms UTC. */
export function conditionOf(device: DeviceFacts, now: number): DeviceCondition {
  const { company, fix, heardAt, isUnplaced, route, unplaced } = device
  if (company === undefined) return 'unknown'
  if (heardAt === undefined) return 'never'
  if (!isAwake(device, now)) return isAsleep(device, now) ? 'parked' : 'silent'
  if (isUnplaced && unplaced?.isHeld && unplaced.reason !== 'no_route') return 'held'
  if (!route) return 'no_route'
  // A parked van may stand without satellites, and trackers that stay awake send messages without a position.
  if (isParked(device)) return 'parked'
  if (isGpsOld(device)) return 'gps_old'
  return (fix?.speed ?? 0) >= MOVING_M_PER_S ? 'moving' : 'standing'
}

function isAwake(device: DeviceFacts, now: number): boolean {
  return silenceMs(device, now) <= leastSilenceMs(device)
}

type Trouble = Omit<TroubledDevice, 'id' | 'name'> & { readonly code: FindingCode }

/** Pure. Returns the troubles of one device by itself. `isInVain`: what it sends is refused or damaged, so it is not silent. */
export function deviceTroubles(device: DeviceFacts, now: number, isInVain = false): Trouble[] {
  const troubles = chainTroubles(device, now, isInVain)
  return device.company === undefined ? troubles : [...troubles, ...alarmTroubles(device, now)]
}

/** Returns the troubles that keep its positions from where they belong. */
function chainTroubles(device: DeviceFacts, now: number, isInVain: boolean): Trouble[] {
  const { behind, company, fix, heardAt = now, isHeldUnknown, isUnplaced, meant, route, sender, unplaced } = device
  const condition = conditionOf(device, now)
  if (condition === 'unknown') {
    const sinceAt = unplaced?.at ?? heardAt
    const advice = meant && meantAdvice(meant)
    return isHeldUnknown ? [troubleWith('unknown_device', sinceAt, say('its fixes are held'), advice)] : []
  }
  if (sender && route && (condition === 'never' || condition === 'silent'))
    return [troubleWith('wrong_port', sender.sinceAt, senderText(sender), portAdvice(sender))]
  if (condition === 'silent')
    return route && !isInVain && !isSaidOfAll(device)
      ? [troubleWith('silent', heardAt, say('last heard {} ago', durationText(now - heardAt)))]
      : []
  if (condition === 'no_route' && isUnplaced && unplaced?.reason === 'no_route') {
    const fate = say(unplaced.isHeld ? 'its fixes are held' : 'its fixes are filtered')
    return [troubleWith('no_route', unplaced.at, joined([fate, ...endedTexts(device)], '; '))]
  }
  const troubles: Trouble[] = []
  if (condition === 'gps_old' && company !== undefined) {
    const last = fix ? say('last new position {} ago', durationText(now - fix.newAt)) : say('no position yet')
    const why = isUnplaced && unplaced ? [say('now filtered as {}', unplaced.reason)] : []
    troubles.push(troubleWith('gps_old', dueSince(device), joined([last, ...why], ', ')))
  }
  if (behind) {
    const { ms, sinceAt, zone } = behind
    const fits =
      zone === undefined
        ? say('no time zone fits')
        : zone === UTC
          ? say('remove its time_zone')
          : say('time_zone "{}" fits', zone)
    const evidence = say('{} behind: {}', durationText(ms), fits)
    troubles.push(troubleWith('clock_behind', sinceAt, evidence, zoneAdvice(device)))
  }
  return troubles
}

/**
 * Returns whether the finding about its whole company already tells that it is silent. A device that was called silent before
 * that still is.
 */
function isSaidOfAll({ heardAt = 0, stopped, usualMs }: DeviceFacts): boolean {
  return stopped?.of === 'company' && stopped.foundAt - heardAt <= leastSilenceMs({ usualMs })
}

/** `action`: a more specific action than the usual one of the code. */
function troubleWith(code: FindingCode, sinceAt: number, evidence: Text, action?: Text): Trouble {
  return { code, sinceAt, evidence, ...(action !== undefined && { action }) }
}

/** `its last line, routes.csv:2, ended 2026-11-22T16:00:00.000Z` */
function endedTexts({ ended }: DeviceFacts): Text[] {
  return ended ? [say('its last line, {}, ended {}', ended.source, new Date(ended.at).toISOString())] : []
}

/** Returns which time zone to write, and where. */
function zoneAdvice({ behind, id, name = id, source }: DeviceFacts): Text | undefined {
  if (behind?.zone === undefined || source === undefined) return undefined
  const of = say('{} at {}', name, source)
  return behind.zone === UTC
    ? say('remove the time_zone of {}, or set that of the device', of)
    : say('set time_zone: "{}" for {}, or have the device report UTC', behind.zone, of)
}

/** Asks whether an id is misspelt in an entry, and returns the action. */
export function meantAdvice({ name, slip, source }: MeantEntry): Text {
  return say(
    'is it {}, whose id in {} {}? If so, correct the id there; otherwise name it under Arrivals or in devices.yaml if it is yours',
    name,
    source,
    say(SLIPS[slip]),
  )
}

const SLIPS = {
  swapped: 'has two digits swapped',
  wrong: 'has one other digit, and a wrong check digit',
  missing: 'has one digit less',
} satisfies Record<MeantEntry['slip'], Template>

/** `its id came from 10.9.9.9:1 at port 5027 (teltonika), and was not understood there` */
export function senderText({ address, port, protocol }: LostSender): Text {
  const at = port === undefined ? address : say('{} at port {}', address, port)
  const from = port === undefined || protocol === undefined ? at : say('{} ({})', at, protocol)
  return say('its id came from {}, and was not understood there', from)
}

/** Returns the action for a sender on the wrong port. */
export function portAdvice({ speaks }: LostSender): Text {
  if (!speaks) return say(NOT_TAKEN.action)
  const { port, protocol } = speaks
  return port === undefined
    ? say(
        'it seems to speak {}, for which there is no listener: add one to listeners in gateway.yaml, and set its port in the device',
        protocol,
      )
    : say('it seems to speak {}: set port {} in the device', protocol, port)
}

/** Counts the conditions of devices, and groups those with the same trouble. Add every device once. */
export class DeviceSurvey {
  readonly #counts = new Map<string | undefined, Record<DeviceCondition, number>>()
  readonly #now: number
  readonly #groups = new Map<string, OpenGroup>()
  readonly #routes = new Map<string, OpenGroup>()

  constructor(now: number) {
    this.#now = now
  }

  /**
   * Returns how many devices are in each condition, for the companies for which `isCounted` returns true; undefined: devices
   * without a company.
   */
  countsOf(isCounted: (company: string | undefined) => boolean): Record<DeviceCondition, number> {
    const sum = noCounts()
    for (const [company, counts] of this.#counts)
      if (isCounted(company)) for (const condition of CONDITIONS) sum[condition] += counts[condition]
    return sum
  }

  /** Adds a device. Returns its condition. `isInVain`: see `deviceTroubles`. */
  add(device: DeviceFacts, isInVain = false): DeviceCondition {
    const condition = conditionOf(device, this.#now)
    const { company, id, name = id, route } = device
    const counts = this.#counts.get(company) ?? noCounts()
    this.#counts.set(company, counts)
    counts[condition]++
    const subject = company === undefined ? {} : { company_id: company }
    for (const { code, ...trouble } of deviceTroubles(device, this.#now, isInVain))
      addTo(this.#groups, `${code} ${company ?? ''}`, { code, subject }, { id, name, ...trouble })
    const isSending = PLACED.has(condition) && isAwake(device, this.#now)
    if (!route || !isSending) return condition
    const own = { id, name, sinceAt: this.#now, evidence: name }
    const group = { code: 'two_on_route', subject: { ...subject, route_id: route.route } } as const
    const key = `${company} ${route.route}`
    // Two trackers of one van share its name.
    if (!this.#routes.get(key)?.named.some((other) => other.name === name)) addTo(this.#routes, key, group, own)
    return condition
  }

  groups(): DeviceGroup[] {
    const shared = [...this.#routes.values()].filter(({ count }) => count > 1)
    return [...this.#groups.values(), ...shared]
  }
}

function noCounts(): Record<DeviceCondition, number> {
  return Object.fromEntries(CONDITIONS.map((condition) => [condition, 0])) as Record<DeviceCondition, number>
}

interface OpenGroup extends DeviceGroup {
  readonly named: TroubledDevice[]
  count: number
  sinceAt: number
}

function addTo(
  groups: Map<string, OpenGroup>,
  key: string,
  { code, subject }: Pick<DeviceGroup, 'code' | 'subject'>,
  device: TroubledDevice,
): void {
  const group = groups.get(key)
  if (!group) return void groups.set(key, { code, subject, count: 1, sinceAt: device.sinceAt, named: [device] })
  group.count++
  group.sinceAt = Math.min(group.sinceAt, device.sinceAt)
  if (group.named.length < MAX_NAMED || ALWAYS_NAMED.has(code)) group.named.push(device)
}

/** Returns whether a device sends, but its positions are older than its messages, except because of its clock. */
function isGpsOld(device: DeviceFacts): boolean {
  if (device.behind || device.isLate) return false
  const { heardAt = 0, positionAt = heardAt } = device
  return (isResting(device) ? positionAt : heardAt) - dueSince(device) > leastSilenceMs(device)
}

/** Returns whether a device stood at its last position, and may have switched its GPS off since: heartbeats have no position. */
function isResting({ fix, heardAt = 0, said, sleepMs, usualMs }: DeviceFacts): boolean {
  if (!fix || said?.ignition?.value === true || (fix.speed ?? 0) >= MOVING_M_PER_S) return false
  return heardAt - fix.newAt <= longestSleepMs({ sleepMs, usualMs })
}

/**
 * Returns since when a new position is due: since the last one or its first message, but not for the time in which the
 * ignition was off, or in which it was silent.
 */
function dueSince(device: DeviceFacts): number {
  const { fix, heardAt = 0, heardSince = heardAt, connectedAt = heardAt, said, wokenAt = 0 } = device
  const lastAt = fix?.newAt ?? Math.min(heardSince, connectedAt)
  return Math.max(lastAt, wokenAt, said?.ignition?.value ? said.ignition.sinceAt : 0)
}

/** `45 s`, `12 min`, `3 h 20 min`, `4 days` */
export function durationText(ms: number): Text {
  const s = Math.max(0, Math.round(ms / 1000))
  if (s < 120) return `${s} s`
  const min = Math.round(s / 60)
  if (min < 120) return `${min} min`
  const h = Math.floor(min / 60)
  if (h >= 48) return say('{} days', Math.floor(h / 24))
  return min % 60 === 0 ? `${h} h` : `${h} h ${min % 60} min`
}

/** The conditions of a device that sends and has no trouble. */
export const PLACED: ReadonlySet<DeviceCondition> = new Set(['moving', 'standing', 'parked'])
const UTC = '+00:00'
/** One more than are named: with the sixth device, there are too many to name. */
const MAX_NAMED = 6
