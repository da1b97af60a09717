import type { Link } from './codes.ts'
import type { ChainFacts } from './detail.ts'
import { type DeviceCondition, durationText } from './devices.ts'
import type { DeviceFacts } from './facts.ts'

interface StateFacts extends Pick<ChainFacts, 'device' | 'position'> {
  readonly condition: DeviceCondition
  /** Its first link that is broken. */
  readonly broken?: Link
  /** ms UTC. */
  readonly now: number
}

/**
 * Pure: state, place, age, speed and route of a device, and what is broken where the state does not say it.
 * `Van 12 is moving 2 km NE of Kaunas (54.91230, 23.93460), 12 s ago, 43 km/h, on route 1007 (courier 42), but nothing is stored`
 */
export function stateText({ broken, condition, device, now, position }: StateFacts): string {
  const { fix, id, name = id, route } = device
  const { text, link } = STATES[condition]
  const isHere = condition === 'moving' || condition === 'standing'
  const speed = condition === 'moving' && fix?.speed !== undefined ? `, ${Math.round(fix.speed * 3.6)} km/h` : ''
  const where = position ? `${isHere ? ' ' : ', last '}${whereText(position)}${agoText(device, now - position.at)}` : ''
  const on = route ? `, on route ${route.route} (courier ${route.courier})` : ''
  const but = broken === undefined || broken === link ? '' : `, ${BUT[broken]}`
  return `${name} ${text}${where}${speed}${on}${but}`
}

function agoText({ behind }: DeviceFacts, ms: number): string {
  return behind ? `, ${durationText(ms)} ago by its clock` : `, ${durationText(ms)} ago`
}

function whereText({ latitude, longitude, place }: NonNullable<ChainFacts['position']>): string {
  const degrees = `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`
  return place === undefined ? `at ${degrees}` : `${place} (${degrees})`
}

/** What a device does, and the link of which that says that it is broken. */
const STATES: Readonly<Record<DeviceCondition, { readonly text: string; readonly link?: Link }>> = {
  moving: { text: 'is moving' },
  standing: { text: 'is standing' },
  silent: { text: 'is silent', link: 'connected' },
  gps_old: { text: 'is heard without a new position', link: 'placed' },
  no_route: { text: 'is heard, and has no route now', link: 'placed' },
  held: { text: 'is heard, and its fixes are held', link: 'placed' },
  never: { text: 'was never heard', link: 'connected' },
  unknown: { text: 'is not configured', link: 'identified' },
}
const BUT: Readonly<Record<Link, string>> = {
  connected: 'but nothing can come from it now',
  understood: 'but what it sends is not understood',
  identified: 'but what it sends is refused',
  placed: 'but its positions do not go where they belong',
  stored: 'but nothing can be stored',
  pushed: 'but its positions are not pushed',
  accepted: 'but the tracking API does not take its positions',
}
