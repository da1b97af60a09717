import { CODES, troubleOf } from './codes.ts'
import type { DeviceGroup, Facts, Found } from './facts.ts'

/** A finding for each of a few devices with the same trouble; one for all of them where they are more. */
export function groupTroubles({ devices = [] }: Facts): Found[] {
  const routes = devices.filter(({ code }) => code === 'two_on_route')
  const others = devices.filter(({ code }) => code !== 'two_on_route')
  return [...others.flatMap(troublesOf), ...routesTroubles(routes)]
}

function troublesOf({ code, count, named, sinceAt, subject }: DeviceGroup): Found[] {
  const { message, severity, action } = troubleOf(code)
  if (count <= FEW)
    return named.map(({ id, name, evidence, ...device }) => ({
      action,
      ...device,
      code,
      severity,
      subject: { device: id, ...subject },
      message: message(name),
      evidence: [evidence],
    }))
  const first = named.slice(0, FEW).map(({ name }) => name)
  const evidence = [`${first.join(', ')} and ${count - first.length} more`, `the longest: ${oldest(named)}`]
  return [{ code, severity, action, subject, sinceAt, count, message: message(`${count} devices`), evidence }]
}

/** A finding for each route that several vans send on; if there are many such routes, one for each company. */
function routesTroubles(routes: readonly DeviceGroup[]): Found[] {
  return [...Map.groupBy(routes, ({ subject }) => subject.company_id).values()].flatMap((some): Found[] => {
    const { code, subject } = some[0]
    const { message } = CODES[code]
    const texts = some.map(({ count, named, subject: { route_id } }) => {
      const more = count > FEW ? ` and ${count - FEW} more` : ''
      return `${named
        .slice(0, FEW)
        .map(({ name }) => name)
        .join(', ')}${more} on route ${route_id}`
    })
    if (some.length <= FEW)
      return some.map((group, index) => ({
        code,
        subject: group.subject,
        sinceAt: group.sinceAt,
        count: group.count,
        message: message(texts[index]),
        evidence: [texts[index]],
      }))
    const { company_id } = subject
    return [
      { code, subject: { company_id }, count: some.length, message: message(`${some.length} routes`), evidence: texts },
    ]
  })
}

function oldest(named: DeviceGroup['named']): string {
  const [{ name, evidence }] = named.toSorted((a, b) => a.sinceAt - b.sinceAt)
  return `${name}, ${evidence}`
}

/** More devices with the same trouble are one finding. */
const FEW = 5
