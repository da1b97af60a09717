import { loadProtocol } from '../../protocols/index.ts'
import { casesOf } from '../support/protocol-cases.ts'
import { vectorResults } from '../support/vectors/results.ts'
import type { VectorFamily } from '../support/vectors/vectors.ts'

/**
 * Two fixes of one device within ten minutes, at least 100 m apart, say how fast and where it drove between them. A family whose speeds
 * or courses are in a wrong unit contradicts them again and again; a single pair may: a van turns, brakes, or was edited by hand.
 * Prints the families in which more than half of at least two pairs do. @returns the exit code: 0 none does, 1 some do
 */
export async function printContradictions(families: ReadonlyMap<string, VectorFamily>): Promise<number> {
  let isSound = true
  for (const name of families.keys()) {
    const protocol = await loadProtocol(name)
    const pairs = protocol
      ? pairsOf(vectorResults(protocol, await casesOf(name)).flatMap(({ output }) => fixesOf(output)))
      : []
    const speeds = pairs.filter(({ speed }) => speed !== undefined)
    const courses = pairs.filter(({ turn }) => turn !== undefined)
    const wrongSpeeds = speeds.filter(({ way, speed = 0 }) => way > 2.5 * speed + 3 || way < speed / 2.5 - 3)
    const wrongCourses = courses.filter(({ turn = 0 }) => turn > 60)
    if (!isMostly(wrongSpeeds, speeds) && !isMostly(wrongCourses, courses)) continue
    isSound = false
    const ratios = speeds.map(({ way, speed = 0 }) => (way / Math.max(speed, 0.1)).toFixed(2)).join(' ')
    const turns = courses.map(({ turn = 0 }) => turn.toFixed(0)).join(' ')
    console.log(
      `${name}: ${pairs.length} pairs; way / speed: ${ratios || '-'}; degrees between way and course: ${turns || '-'}`,
    )
  }
  if (isSound) console.log('No family contradicts itself.')
  return isSound ? 0 : 1
}

interface Place {
  readonly device: string
  readonly at: number
  readonly lat: number
  readonly lon: number
  readonly speed?: number
  readonly heading?: number
}

/** `way`: the mean speed of the way between two fixes, m/s; `speed`: the faster of what they say; `turn`: degrees. */
interface Pair {
  readonly way: number
  readonly speed?: number
  readonly turn?: number
}

function fixesOf({ device = '', fixes }: Awaited<ReturnType<typeof vectorResults>>[number]['output']): Place[] {
  return fixes.flatMap((fix) => {
    const { lat, lon, time, valid, speed, heading } = fix
    if (!valid || lat === undefined || lon === undefined || time === undefined) return []
    return [{ device: fix.device ?? device, at: Date.parse(time), lat, lon, speed, heading }]
  })
}

function pairsOf(places: readonly Place[]): Pair[] {
  return [...Map.groupBy(places, ({ device }) => device).values()].flatMap((own) => {
    const inOrder = own.toSorted((one, other) => one.at - other.at)
    return inOrder.slice(1).flatMap((place, index) => pairOf(inOrder[index], place))
  })
}

function pairOf(from: Place, to: Place): Pair[] {
  const seconds = (to.at - from.at) / 1000
  const north = (to.lat - from.lat) * METRES_A_DEGREE
  const east = (to.lon - from.lon) * METRES_A_DEGREE * Math.cos((to.lat * Math.PI) / 180)
  const metres = Math.hypot(north, east)
  if (seconds <= 0 || seconds > MOST_SECONDS || metres < LEAST_METRES || metres / seconds > FASTEST) return []
  const said = [from.speed, to.speed].filter((speed) => speed !== undefined)
  const bearing = (Math.atan2(east, north) * 180) / Math.PI
  const turn = to.heading === undefined ? undefined : Math.abs(((to.heading - bearing + 540) % 360) - 180)
  return [{ way: metres / seconds, speed: said.length > 0 ? Math.max(...said) : undefined, turn }]
}

function isMostly(wrong: readonly Pair[], all: readonly Pair[]): boolean {
  return wrong.length >= 2 && wrong.length > all.length / 2
}

const METRES_A_DEGREE = 111_320
const MOST_SECONDS = 600
const LEAST_METRES = 100
/** Above it one of the two is of another journey, m/s. */
const FASTEST = 80
