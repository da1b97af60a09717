import { isObservation } from '../observe/observations.ts'
import { english, joined, say, type Text } from '../texts/text.ts'
import { CODES, deviceMeaning, type FindingCode, SEVERITY_ORDER } from './codes.ts'
import type { Finding } from './facts.ts'

/**
 * Findings of one code about the devices, lanes or routes of one company, or a finding about anything else: they are
 * announced together.
 */
export interface Incident {
  /** Represents all of it: one of the findings, or one sentence about all of them. */
  readonly finding: Finding
  /** How many devices, lanes, lines or fixes it concerns; 1 if that is not known. */
  readonly size: number
}

/** Pure. Returns the incidents of these findings, by key. The key stays when findings are merged into one, or separated again. */
export function incidentsOf(findings: readonly Finding[]): Map<string, Incident> {
  const incidents = new Map<string, Incident>()
  for (const [key, some] of Map.groupBy(findings, incidentKey)) incidents.set(key, incidentOf(some))
  return incidents
}

/** Returns the key of a finding's incident. Each SOS of a device is a separate incident. */
function incidentKey(finding: Pick<Finding, 'code' | 'subject' | 'sinceAt'>): string {
  const { code, sinceAt, subject } = finding
  const key = groupKey(finding)
  return code === 'sos' && subject.device !== undefined ? `${key} ${subject.device} ${sinceAt}` : key
}

/** Returns the key for findings that may be merged into one about many: about devices, lanes or routes of one company. */
export function groupKey({ code, subject }: Pick<Finding, 'code' | 'subject'>): string {
  const shared = Object.entries(subject).filter(([name, value]) => value !== undefined && !isMember(name))
  return `${code} ${JSON.stringify(shared.toSorted(([one], [other]) => (one < other ? -1 : 1)))}`
}

/** The ids of a subject that are left out of a finding about many. */
function isMember(name: string): boolean {
  return name === 'device' || name === 'courier_id' || name === 'route_id'
}

/** Whether a finding is about one device, lane or route, so that several such findings may become one. */
export function isAboutMember({ subject }: Pick<Finding, 'subject'>): boolean {
  return Object.entries(subject).some(([name, value]) => value !== undefined && isMember(name))
}

function incidentOf(some: readonly Finding[]): Incident {
  const group = some.find((finding) => !isAboutMember(finding))
  if (group) return { finding: group, size: isUncounted(group.code) ? 1 : group.count }
  return some.length === 1 ? { finding: some[0], size: 1 } : { finding: united(some), size: some.length }
}

/** The count of an observation is how often it was made, except for devices on a wrong port, whose number it is. */
function isUncounted(code: FindingCode): boolean {
  return isObservation(code) && code !== 'wrong_port'
}

function united(some: readonly Finding[]): Finding {
  const { code, link } = some[0]
  const ordered = some.toSorted((one, other) => one.sinceAt - other.sinceAt)
  const [{ severity }] = some.toSorted((one, other) => SEVERITY_ORDER[one.severity] - SEVERITY_ORDER[other.severity])
  const { device: _device, courier_id: _courier, route_id: _route, ...subject } = some[0].subject
  const actions = new Set(some.slice(0, MOST_COMPARED).map(({ action }) => english(action)))
  const isOneAction = actions.size === 1 && some.length <= MOST_COMPARED
  const shown = ordered.slice(0, SHOWN).map(shortly)
  const left = some.length - SHOWN
  return {
    code,
    link,
    severity,
    subject,
    sinceAt: ordered[0].sinceAt,
    count: some.length,
    message: messageOf(some),
    action: isOneAction ? some[0].action : say(deviceMeaning(code).action),
    evidence: left > 0 ? [...shown.slice(0, -1), say('{} and {} more', shown[SHOWN - 1], left)] : shown,
  }
}

/** Returns the sentence about one of them, with their number in place of its name; several sentences if they differ. */
function messageOf(some: readonly Finding[]): Text {
  const bySentence = Map.groupBy(some, ({ message }) => (typeof message === 'string' ? message : message.says))
  const texts = [...bySentence.values()].map((same): Text => {
    const [{ code, message, subject }] = same
    if (same.length === 1) return message
    const about =
      subject.device !== undefined
        ? devicesText(typeof message === 'string' ? message : message.says, same.length)
        : subject.courier_id !== undefined
          ? say('{} lanes', same.length)
          : say('{} routes', same.length)
    if (nameIn(message) !== undefined) return { ...(message as Exclude<Text, string>), values: [about] }
    return say(CODES[code].message, about)
  })
  return joined(texts, '; ')
}

/** Returns the number of devices as a value of a sentence about one; if that begins with its subject, its verb is singular. */
export function devicesText(message: string, count: number): Text {
  return message.startsWith('{}') ? say('each of {} devices', count) : say('{} devices', count)
}

/** `Van 12: last heard 6 min ago` */
function shortly({ evidence, message }: Finding): Text {
  const name = nameIn(message) ?? message
  return evidence.length === 0 ? name : joined([name, evidence[0]], ': ')
}

/** Returns the only value of a sentence, if it is the name of its subject. */
function nameIn(message: Text): Text | undefined {
  if (typeof message === 'string' || message.values.length !== 1) return undefined
  const [value] = message.values
  return typeof value === 'number' ? undefined : value
}

const SHOWN = 5
/** With more findings, their actions are not compared, and may differ. */
const MOST_COMPARED = 100
