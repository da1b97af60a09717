import { addressOf } from '../../domain/addresses.ts'
import { type FindingCode, SENT_IN_VAIN } from '../../diagnose/codes.ts'
import type { DeviceFacts, TrafficVan, Trait } from '../../diagnose/device-facts.ts'
import type { Finding } from '../../diagnose/facts.ts'
import { isParked, MOVING_M_PER_S } from '../../diagnose/parked.ts'
import type { SeenProcess } from '../../store/index.ts'
import type { IndexedDevice } from './device-index.ts'

/**
 * Returns a device for the check of vans that fall silent together; undefined if no message of it is expected, or it was
 * never heard.
 */
export function trafficVan(device: IndexedDevice, facts: DeviceFacts, known: KnownTraffic): TrafficVan | undefined {
  const { heard, learnt } = device
  const { company, fix, heardAt, id, route, said, sender, usualMs = 0 } = facts
  if (!heard || company === undefined || heardAt === undefined || !route || sender) return undefined
  if (isParked(facts) || known.sendingInVain.has(id)) return undefined
  const hasStood = fix?.speed !== undefined && fix.speed < MOVING_M_PER_S && said?.ignition?.value !== true
  return {
    id,
    company,
    heardAt,
    usualMs: usualMs && Math.max(usualMs, learnt.paceMs),
    hasStood,
    gateway: heard.gateway,
    traits: () => traitsOf(device, company, known.gateways),
  }
}

/** Known facts besides the devices. */
export interface KnownTraffic {
  /** Names of gateways by their ids. */
  readonly gateways: ReadonlyMap<string, string>
  /** Devices whose messages are refused or damaged. */
  readonly sendingInVain: ReadonlySet<string>
}

/** Returns what the processes and findings tell about traffic. */
export function knownTraffic(processes: readonly SeenProcess[], findings: readonly Finding[]): KnownTraffic {
  const inVain = findings.flatMap(({ code, subject }) => (SENT_IN_VAIN.has(code) ? (subject.device ?? []) : []))
  return {
    gateways: gatewayNames(processes),
    sendingInVain: new Set(inVain),
  }
}

function traitsOf({ entry, heard }: IndexedDevice, company: string, gateways: KnownTraffic['gateways']): Trait[] {
  if (!heard) return []
  const { gateway, port, protocol, remote, transport } = heard
  const gatewayName = gateways.size > 1 ? gateways.get(gateway) : undefined
  const traits: Trait[] = []
  if (port !== undefined) traits.push({ kind: 'port', value: `${port} (${transport})` })
  if (protocol !== undefined) traits.push({ kind: 'protocol', value: `${protocol} (${transport})` })
  if (gatewayName !== undefined) traits.push({ kind: 'gateway', value: gatewayName })
  traits.push({ kind: 'company', value: company })
  if (entry?.model !== undefined) traits.push({ kind: 'model', value: entry.model })
  for (const value of networksOf(remote)) traits.push({ kind: 'network', value })
  return traits
}

/** The address of a peer, `address:port`, and the networks that it is in: `10.1.2.3`, `10.1.2.0/24`, `10.1.0.0/16`. */
function networksOf(remote: string): string[] {
  const address = addressOf(remote)
  const parts = address.split('.')
  if (parts.length !== 4) return address === '' ? [] : [address]
  const [a, b, c] = parts
  return [address, `${a}.${b}.${c}.0/24`, `${a}.${b}.0.0/16`]
}

/** Living gateways, by the id that device records have: `4711 on gate-1`. */
function gatewayNames(processes: readonly SeenProcess[]): Map<string, string> {
  const names = new Map<string, string>()
  for (const { ageMs, figures, host, pid, role } of processes) {
    const id = figures?.gateway
    if (role === 'gateway' && ageMs < LIVES_MS && typeof id === 'string') names.set(id, `${pid} on ${host}`)
  }
  return names
}

/**
 * Returns true if a known cause explains why vans are not heard: a finding, or a gateway that has just started. `now`: ms
 * UTC.
 */
export function explainsSilence(findings: readonly Finding[], processes: readonly SeenProcess[], now: number): boolean {
  const isYoung = processes.some(({ role, sinceAt }) => role === 'gateway' && Math.abs(now - sinceAt) < YOUNG_MS)
  return (
    isYoung ||
    findings.some(({ code, link, severity }) => {
      return EXPLAINS.has(code) || (link === 'stored' && severity === 'error' && code !== 'custody_difference')
    })
  )
}

/** `sinceAt`: since when no device can be heard, ms UTC; `bridge`: none that comes by it, the `remote` of their contact. */
export interface DeafWay {
  readonly sinceAt: number
  readonly bridge?: string
}

/** Returns how devices cannot be heard now, by the findings that hold. */
export function deafWays(findings: readonly Pick<Finding, 'code' | 'sinceAt' | 'subject'>[]): DeafWay[] {
  return findings.flatMap(({ code, sinceAt, subject }): DeafWay[] => {
    if (code === 'bridge_down') return [{ sinceAt, bridge: subject.listener }]
    return DEAF.has(code) ? [{ sinceAt }] : []
  })
}

const DEAF: ReadonlySet<FindingCode> = new Set(['no_gateway', 'redis_down', 'replicas_missing', 'redis_full'])
const EXPLAINS: ReadonlySet<FindingCode> = new Set(['no_gateway', 'own_clock', 'connections_full', 'restarting'])
const YOUNG_MS = 10_000
const LIVES_MS = 10_000
