import { MAX_BODY_BYTES } from '../body.ts'
import { openApiDocument } from '../openapi.ts'
import { OPERATIONS, type TrackingOperation } from '../operations.ts'
import { Id } from '../schemas.ts'
import { MAX_ITEMS, MAX_TEXTS } from './items.ts'

/** The whole tracking interface as an OpenAPI document. */
export function trackingDocument() {
  return openApiDocument({
    info: { title: 'Courier Tracking Service Interface', description: DESCRIPTION },
    securitySchemes: SECURITY_SCHEMES,
    refusals: REFUSALS,
    operations: Object.fromEntries(
      Object.entries(OPERATIONS).map(([name, operation]) => [name, { ...operation, parameter: Id }]),
    ),
  })
}

const REFUSALS: Readonly<Record<TrackingOperation['refusals'][number], string>> = {
  400: 'The interval has no beginning, is not in whole seconds, ends before it begins, or is longer than two hours.',
  401: 'Authorization failed: send a known OAuth token in the header.',
  403: 'No access to this object: it belongs to another company than the credentials, or these are unknown.',
  404: 'There is no such object.',
  422: 'Incorrect input: an id is no int64 from 0 on, the body is missing, too large or no JSON, or a field is wrong.',
  504: 'The service took too long.',
}

const SECURITY_SCHEMES = {
  oauth: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'An OAuth token of the company, as `OAuth <token>`.',
  },
  apikey: { type: 'apiKey', in: 'query', name: 'apikey', description: "The company's API key." },
} satisfies Record<TrackingOperation['credential'], object>

const DESCRIPTION = `Contractor numbers, positions of couriers, items of orders and their return.

Integers of the format int64 go up to 9223372036854775807 and are exact: read them with a parser that keeps all digits,
and write those beyond 2^53 in plain digits. The service takes at most ${MAX_ITEMS} items at once,
with at most ${MAX_TEXTS.code} characters of \`code\`, ${MAX_TEXTS.comment} of \`comment\` and ${MAX_TEXTS.price} of \`price\`.
Unknown fields are ignored. Text must be well-formed Unicode, and its length is counted in code points.
A request body has at most ${MAX_BODY_BYTES} bytes. Credentials are checked first, then access, existence, input.`
