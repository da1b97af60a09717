import { child, type Node, textAt } from './node.ts'
import type { Mistake } from './problem.ts'
import { defaultConfig, type Protocols } from './schema.ts'

/** One place to listen; `at` undefined where the file leaves it to its default. */
interface Site {
  readonly key: string
  readonly at?: number
  readonly family: 'tcp' | 'udp'
  readonly host: string
  readonly port: number
}

/** Settings of one port for two listeners, the broker and the HTTP ports included; also in files with other mistakes. */
export function portConflicts(root: Node, protocols: Protocols): Mistake[] {
  return conflictsAmong(allSites(root, protocols))
}

/** Places to listen that have one port, of which one at least is named by the file. */
export function conflictsAmong(sites: readonly Site[]): Mistake[] {
  const fixed = sites.filter(({ port }) => port > 0)
  return fixed.flatMap((site, index) => {
    const other = fixed.slice(0, index).find((earlier) => conflict(earlier, site))
    if (!other) return []
    // The one that the file names is the one to change.
    const [named, against] = site.at === undefined ? [other, site] : [site, other]
    return named.at === undefined ? [] : [{ at: named.at, key: `${named.key}.port`, message: taken(named, against) }]
  })
}

function allSites(root: Node, protocols: Protocols): Site[] {
  const usual = defaultConfig(protocols)
  const tracking = child(root, 'tracking')
  const broker = child(child(root, 'mqtt'), 'broker')
  return [
    ...listenerSites(root, usual.listeners),
    ...(broker?.kind === 'leaf' ? [] : [siteAt(broker, 'mqtt.broker', { host: '0.0.0.0', port: 1883 })]),
    siteAt(child(root, 'admin'), 'admin', usual.admin),
    ...(textAt(tracking, 'base_url')
      ? []
      : [siteAt(child(tracking, 'listen'), 'tracking.listen', usual.tracking.listen)]),
    siteAt(child(root, 'monitor'), 'monitor', usual.monitor),
  ]
}

function listenerSites(root: Node, usual: readonly { transport: string; host: string; port: number }[]): Site[] {
  const listeners = child(root, 'listeners')
  if (listeners?.kind !== 'sequence')
    return usual.map((listener, index) => ({
      ...listener,
      key: `listeners[${index}]`,
      family: familyOf(listener.transport),
    }))
  return listeners.items.map((listener, index) => ({
    ...siteAt(listener, `listeners[${index}]`, { host: '0.0.0.0', port: 0 }),
    family: familyOf(textAt(listener, 'transport')),
  }))
}

/** The place to listen that a mapping with `host` and `port` says; `usual` is what it leaves out. */
export function siteAt(node: Node | undefined, key: string, usual: { host: string; port: number }): Site {
  const port = Number(textAt(node, 'port') ?? usual.port)
  return { key, at: child(node, 'port')?.at, family: 'tcp', host: textAt(node, 'host') ?? usual.host, port }
}

function familyOf(transport: string | undefined): Site['family'] {
  return transport === 'udp' ? 'udp' : 'tcp'
}

function conflict(a: Site, b: Site): boolean {
  if (a.port !== b.port || a.family !== b.family) return false
  return a.host === b.host || EVERYWHERE.has(a.host) || EVERYWHERE.has(b.host)
}

function taken(site: Site, by: Site): string {
  return `${site.family} port ${site.port} is taken by ${by.key}`
}

const EVERYWHERE = new Set(['0.0.0.0', '::', '[::]', '*'])
