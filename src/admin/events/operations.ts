import type { FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { parse } from '../../http/refusal.ts'
import { languageOf } from '../../texts/language.ts'
import { type Findings, findingJson } from '../findings.ts'
import type { Operation } from '../operation.ts'
import type { Scope } from '../scope.ts'
import { type EventTopic, TOPICS } from './event-log.ts'
import { EventFeed, EventReader, type EventSource } from './feed.ts'

interface StreamSources {
  readonly status: (scope: Scope) => Promise<object>
  readonly findings: Pick<Findings, 'follow'>
  readonly sources: () => readonly EventSource[]
  /** Whether a request would still be admitted now, with the same scope. */
  readonly isAllowed: (request: FastifyRequest, scope: Scope) => Promise<boolean>
  /** Called as a stream with positions begins, and every second. */
  readonly noteRead: (request: FastifyRequest) => Promise<void>
}

/**
 * `GET /admin/events`: what happens, as server-sent events. A client that sends the header `Last-Event-ID` gets all
 * events since that one, or the event `reset` if they are no longer known.
 */
export function eventOperations({ findings, isAllowed, noteRead, ...sources }: StreamSources) {
  const feed = new EventFeed(sources)
  findings.follow(({ finding, change, endedAt }) => {
    const dataFor = (scope: Scope) => {
      const [seen] = scope.findings([finding])
      return seen && { change, ...findingJson({ ...seen, endedAt }) }
    }
    feed.tell('finding', { device: finding.subject.device, dataFor })
  })

  async function follow(request: FastifyRequest, reply: FastifyReply, scope: Scope): Promise<unknown> {
    const { topics: text, device, last_event_id } = parse(EventsQuery, request.query)
    if (request.method === 'HEAD') return reply.type('text/event-stream').send()
    await feed.wake()
    if (feed.size >= MOST_READERS) {
      const message = `${MOST_READERS} event streams are open: close one, or try again later`
      return reply.code(503).header('retry-after', '10').send({ message })
    }
    const topics = new Set(text.split(',').filter(isTopic))
    const hasPositions = topics.has('device') || topics.has('arrival')
    if (hasPositions) await noteRead(request)
    const lastId = request.headers['last-event-id']?.toString() || last_event_id
    reply.hijack()
    if (reply.raw.destroyed) return reply
    const language = languageOf(request.headers['accept-language'])
    const stillAllowed = async () => {
      const isSo = await isAllowed(request, scope)
      if (isSo && hasPositions) await noteRead(request)
      return isSo
    }
    const options = { topics, scope, language, device, lastId, isAllowed: stillAllowed }
    const reader = new EventReader(reply.raw, reply.getHeaders(), options)
    reply.raw.once('close', () => feed.remove(reader))
    feed.add(reader)
    return reply
  }

  const operation: Operation = {
    method: 'GET',
    path: '/admin/events',
    id: 'followEvents',
    summary: 'Follow what happens, as server-sent events that can be resumed',
    query: EventsQuery,
    answer: z.string(),
    answerType: 'text/event-stream',
    companies: 'filtered',
    reads: 'positions',
    handle: follow,
  }
  return { operations: [operation], jobs: feed.jobs, close: () => feed.close() }
}

const EventsQuery = z.object({
  topics: z
    .string('expected one list of topics')
    .refine((text) => text.split(',').every(isTopic), `expected some of ${TOPICS.join()}`)
    .default(TOPICS.join())
    .meta({ description: 'All, unless it names some.' }),
  device: z
    .string('expected one id')
    .optional()
    .meta({ description: 'Of devices, findings and arrivals: this one alone.' }),
  last_event_id: z
    .string('expected one id')
    .optional()
    .meta({ description: 'Where the header Last-Event-ID is not sent.' }),
})

function isTopic(name: string): name is EventTopic {
  return TOPICS.some((topic) => topic === name)
}

const MOST_READERS = 200
