import { chainOf, chainWithoutRedis, type DeviceChain } from '../../diagnose/chain.ts'
import type { ChainFacts, DeviceDetail, ExplainedDevice } from '../../diagnose/detail.ts'
import { laneIds, sameId, slipBetween } from '../../domain/ids.ts'
import { clockIn } from '../../domain/times.ts'
import type { DeviceEntry } from '../../roster/device-entry.ts'
import { describeLanes, isConnectionError, type LaneState, readFrames, type Store } from '../../store/index.ts'
import type { MisunderstoodFrame } from '../../store/misunderstood-frame.ts'
import { type ApiState, worstOf } from '../api-states.ts'
import { type Findings, findingJson } from '../findings.ts'
import { instant } from '../json.ts'
import { parkedOf } from '../lanes.ts'
import type { Operation } from '../operation.ts'
import { ChainJson } from '../schemas/chain.ts'
import type { Scope } from '../scope.ts'
import { factsOf, meantBy, withoutOwnClock } from './condition.ts'
import { type DetailSources, describeDevice } from './device.ts'
import { deviceRows } from './list.ts'

interface ChainSources extends DetailSources {
  readonly findings: Pick<Findings, 'current' | 'facts'>
  readonly apiStates: () => Promise<readonly ApiState[]>
}

/** `GET /admin/devices/{id}/chain`: the seven links of a device with their evidence, and the first that is broken. */
export function chainOperation(sources: ChainSources): Operation {
  return {
    method: 'GET',
    path: '/admin/devices/{id}/chain',
    id: 'getDeviceChain',
    summary: 'Get where the positions of a device are: its seven links, what is broken first, and what to do',
    answer: ChainJson,
    refusals: [404],
    reads: 'positions',
    companies: 'by_device',
    async handle({ params }, reply, scope) {
      const { id } = params as { id: string }
      const { index, live } = sources
      const asked = { sources, scope, now: Date.now() }
      const show = clockIn(live.config.time_zone, asked.now)
      const described = await describeDevice(id, sources, scope).catch((error: Error) => error)
      const device = index.find(id)
      if (described instanceof Error) {
        // While Redis is away, the answer comes from memory.
        const chain =
          device && isConnectionError(described) ? chainWithoutRedis(knownFacts(device, asked), show) : undefined
        if (!device || !chain) throw described
        return chainJson(chain, device, sources)
      }
      const { found, missing } = described
      if (!found || !device) return reply.code(404).send(missing ?? { message: 'no device with this id is known' })
      const facts = await chainFacts(device, found as DeviceDetail, asked)
      return chainJson(chainOf(facts, show), device, sources)
    },
  }
}

async function chainJson({ links, findings, ...chain }: DeviceChain, device: Indexed, sources: ChainSources) {
  const { time_zone } = sources.live.config
  return {
    device: (await deviceRows([device], sources))[0],
    ...chain,
    links: links.map(({ sinceAt, lastGoodAt, finding, ...link }) => ({
      ...link,
      since_at: instant(sinceAt),
      last_good_at: instant(lastGoodAt),
      finding: finding && findingJson(finding),
    })),
    findings: findings.map(findingJson),
    time_zone,
  }
}

type Indexed = NonNullable<ReturnType<DetailSources['index']['find']>>

interface ChainRequest {
  readonly sources: ChainSources
  readonly scope: Scope
  readonly now: number
}

/** Returns the facts about a device that this process has in memory. */
function knownFacts(device: Indexed, { sources, scope, now }: ChainRequest) {
  const { directory, index, findings, places } = sources
  const { latitude, longitude, time } = device.heard?.fix?.fix ?? {}
  const isPlace = typeof latitude === 'number' && typeof longitude === 'number' && typeof time === 'number'
  return {
    device: withoutOwnClock(factsOf(device, { index, roster: directory(), now }), findings.current),
    position: isPlace ? { at: time, latitude, longitude, place: places.near(latitude, longitude) } : undefined,
    findings: scope.findings(findings.current),
    now,
  }
}

async function chainFacts(device: Indexed, detail: DeviceDetail, asked: ChainRequest): Promise<ChainFacts> {
  const { sources, scope, now } = asked
  const { apiStates, findings, redis } = sources
  const { entry, id } = device
  const courier = detail.lane?.courier_id ?? entry?.courier_id
  const earlier = entry ? await lanesBefore(redis, entry, detail) : []
  const before = earlier.find(({ parked }) => !parked)
  const [parked, misunderstood, states] = await Promise.all([
    entry ? parkedOf(redis, entry, { courier_id: courier, earlier }) : [],
    misunderstoodOf(redis, id, entry),
    apiStates(),
  ])
  const known = knownFacts(device, asked)
  const { route } = known.device
  const own = route && `${entry?.company_id}/${route.courier}/${route.route}`
  const { apis, upstream } = findings.facts ?? {}
  const isOwn = ({ companies }: { readonly companies: readonly string[] }) =>
    companies.includes(entry?.company_id ?? '')
  const api = states.find(isOwn) ?? worstOf(states)
  const { answers } = (apis ? apis.find(isOwn) : upstream) ?? {}
  const unanswered = answers?.unanswered.named.find(({ lane }) => lane === own)
  // A device whose entry was deleted is no mistyped one.
  const isStrange = !entry && scope.isAll && detail.file_entry === undefined
  const meant = isStrange ? meantBy(device, sources.index) : undefined
  return {
    ...known,
    device: { ...known.device, meant },
    explained: {
      device: detail,
      parked: parked as ExplainedDevice['parked'],
      before: before && { route_id: laneIds(before.lane).route_id, oldest_at: instant(before.oldestAt) ?? '' },
      misunderstood,
      upstream: {
        state: api?.state ?? 'up',
        since_at: instant(api?.since ?? now) ?? '',
        unanswered_since_at: instant(unanswered?.since),
      },
      similar: entry && !device.heard && scope.isAll ? similarTo(id, sources.index) : undefined,
      now,
    },
  }
}

/**
 * Resolves to earlier lanes of the device, by its events, in which positions of it still wait or are parked. What came to such
 * a lane after the device had left it is of other devices.
 */
async function lanesBefore(
  redis: Store,
  { company_id, id }: DeviceEntry,
  { events, lane, last_fix }: DeviceDetail,
): Promise<LaneState[]> {
  const leftAt = new Map<string, number>()
  let until = Date.parse(last_fix?.received_at ?? '')
  for (const { at, courier_id, route_id } of events.filter(({ event }) => event === 'routed')) {
    const key = `${company_id}/${courier_id}/${route_id}`
    if (!leftAt.has(key)) leftAt.set(key, until)
    until = Date.parse(at)
  }
  if (lane) leftAt.delete(`${company_id}/${lane.courier_id}/${lane.route_id}`)
  const states = await describeLanes(redis, [...leftAt.keys()], [redis.shardOf(id)])
  return states.filter(({ lane: name, oldestAt = Infinity }) => oldestAt <= (leftAt.get(name) ?? 0))
}

/** Returns the id of an unconfigured sending device of which `id` may be a misspelling; undefined if none or several fit. */
function similarTo(id: string, index: ChainSources['index']): string | undefined {
  const typed = sameId(id)
  const meant = index.inOrder.flatMap((device) => {
    return !device.entry && slipBetween(typed, sameId(device.id)) ? [device.id] : []
  })
  return meant.length === 1 ? meant[0] : undefined
}

/**
 * Resolves to the number of frames whose positions are not understood, and since when: those in the protocol of the device's
 * latest such frame, among the latest 1,000 frames.
 */
async function misunderstoodOf(
  redis: Store,
  id: string,
  entry: DeviceEntry | undefined,
): Promise<ExplainedDevice['misunderstood']> {
  const stored = await readFrames(redis, { devices: [...new Set([id, sameId(id)])], count: MOST_FRAMES })
  const frames = stored.map(({ text }) => JSON.parse(text) as MisunderstoodFrame)
  const own = frames.filter(({ company }) => !entry || company === entry.company_id)
  const positions = own.filter(({ reason }) => reason === 'not_read' || reason === 'entries')
  const [latest] = positions
  if (!latest) return undefined
  const { protocol, error } = latest
  const alike = positions.filter((frame) => frame.protocol === protocol)
  return { frames: alike.length, sinceAt: instant(alike.at(-1)?.at) ?? '', protocol, error }
}

const MOST_FRAMES = 1000
