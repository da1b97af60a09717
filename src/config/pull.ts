import type { z } from 'zod'
import { isLoopback } from '../domain/networks.ts'
import { duration } from '../domain/units.ts'
import {
  distinctNames,
  fields,
  filePath,
  headerToken,
  id,
  leaf,
  list,
  orNull,
  printableText,
  setting,
} from './leaves.ts'

/** A roster that another system serves. */
export type Pull = z.output<ReturnType<typeof pulls>>[number]

/** `roster.pull`; names are unique within a company. */
export function pulls(dir: string) {
  return list(pull(dir)).superRefine(distinctNames('pull', keyOf))
}

function pull(dir: string) {
  const shape = {
    url: pullUrl.describe('URL of the roster: CSV, XLSX or JSON as `PUT /admin/routes` takes it.'),
    every: setting(interval, '5m', 'How often it is asked for; a tenth more or less, so that not all ask at once.'),
    token: headerToken.optional().describe('Token that is sent as `Authorization: Bearer`.'),
    company_id: id.describe('Company whose roster it is.'),
    name: printableText.optional().describe('Name for people and findings; without it, the URL without its query.'),
    ca: orNull(filePath(dir)).describe('File with the authority of its certificate, PEM, beyond those of the system.'),
  }
  return fields(shape).transform(({ name, ...rest }) => ({ ...rest, name: name ?? nameOf(rest.url) }))
}

function keyOf({ company_id, name }: { readonly company_id: string; readonly name: string }): string {
  return `${company_id} ${name}`
}

/** The URL without its query, which may hold a secret. */
function nameOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** A roster is believed, and may hold names, so it is not pulled over a network without TLS. */
const pullUrl = leaf((value) => {
  const url = URL.parse(value)
  return url && isPullable(url) && !url.hash ? url.href : undefined
}, 'expected an https URL without user name and fragment; http only to this machine, such as http://127.0.0.1:8000/roster.csv')

/** Whether a roster may be pulled from a URL. */
export function isPullable({ protocol, hostname, username, password }: URL): boolean {
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/g, '')))
}

const interval = leaf((value) => {
  const ms = duration(value)
  return ms !== undefined && ms >= 1000 && ms <= 86_400_000 ? ms : undefined
}, 'expected a duration from 1s to 24h, such as 5m')
