import { expect, it, onTestFinished } from 'vitest'
import type { AlertMessage } from '../../src/alerts/formats.ts'
import { NotDelivered } from '../../src/alerts/outbox.ts'
import { webhookTransport } from '../../src/alerts/transports.ts'
import type { Config } from '../../src/config/schema.ts'
import { finding, news, webhookReceiver } from '../support/alerts.ts'

type Format = Config['alerts']['webhooks'][number]['format']

const PAGE = 'https://gps.example'
const HOSTILE = 'Van <!channel> [x](https://evil.example) *bold* \u001b[31m & more'
const BEGINS = news({ finding: finding({ message: HOSTILE, evidence: [HOSTILE] }) })
const ENDS = news({ change: 'ends', endedAt: Date.UTC(2026, 10, 22, 8) })

/** Returns what a receiver of a format gets. */
async function sent(format: Format, messages: readonly AlertMessage[], secret?: string) {
  const { url, posts, close } = await webhookReceiver()
  onTestFinished(close)
  const transport = webhookTransport({ url: `${url}/hook/canary-path`, secret, format }, PAGE)
  for (const message of messages) await transport.send([message], AbortSignal.timeout(5000))
  const test = async () => {
    await transport.test(AbortSignal.timeout(5000))
    return posts.map(({ body }) => JSON.parse(body) as never)
  }
  return { bodies: posts.map(({ body }) => JSON.parse(body) as never), posts, test }
}

it('Slack gets blocks of plain text, in which text from a device mentions nobody', async () => {
  const { bodies, posts } = await sent('slack', [BEGINS, ENDS])
  const [begin, end] = bodies as { text: string; blocks: { type: string; text?: { type: string; text: string } }[] }[]
  expect(begin.text).toMatch(/^Begins, error: Van &lt;!channel&gt; /)
  for (const sign of ['<', '>', '\u001b']) expect(begin.text).not.toContain(sign)
  expect(begin.blocks.map(({ type, text }) => text?.type ?? type)).toEqual(['plain_text', 'plain_text', 'context'])
  expect(begin.blocks[1].text?.text).toContain('To do: see the evidence\n• Van <!channel>')
  expect(JSON.stringify(begin.blocks[2])).toContain(`<${PAGE}/#/findings/upstream_down|waybridge>`)
  expect(end.text).toMatch(/^Ended, error: the tracking API refuses connections/)
  expect(end.blocks[1].text?.text).toContain('ended 2026-11-22T08:00:00.000Z')
  expect(end.blocks[1].text?.text).not.toMatch(/To do|•/)
  expect(posts[0].headers['waybridge-signature']).toBeUndefined()
})

it('Teams gets an Adaptive Card whose text runs show Markdown as plain text', async () => {
  const { bodies } = await sent('teams', [BEGINS])
  expect(bodies[0]).toMatchObject({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          type: 'AdaptiveCard',
          version: '1.4',
          body: expect.arrayContaining([
            {
              type: 'RichTextBlock',
              inlines: [
                { type: 'TextRun', text: expect.stringContaining('[x](https://evil.example)'), weight: 'Bolder' },
              ],
            },
          ]),
          actions: [{ type: 'Action.OpenUrl', url: `${PAGE}/#/findings/upstream_down` }],
        },
      },
    ],
  })
  expect(JSON.stringify(bodies).replaceAll('RichTextBlock', '')).not.toContain('TextBlock')
})

it('PagerDuty gets trigger, trigger and resolve with the same key', async () => {
  const key = '0123456789abcdef0123456789abcdef'
  const updates = news({ change: 'updates', finding: finding({ message: 'x'.repeat(3000) }) })
  const { bodies } = await sent('pagerduty', [BEGINS, updates, ENDS], key)
  expect(bodies).toMatchObject([
    {
      routing_key: key,
      event_action: 'trigger',
      dedup_key: 'incident-1',
      payload: {
        severity: 'error',
        source: 'gps.example',
        class: 'upstream_down',
        component: 'accepted',
        timestamp: '2026-11-22T07:41:00.000Z',
        custom_details: { count: 3, action: 'see the evidence' },
      },
    },
    { event_action: 'trigger', dedup_key: 'incident-1' },
    { routing_key: key, event_action: 'resolve', dedup_key: 'incident-1' },
  ])
  expect((bodies[1] as { payload: { summary: string } }).payload.summary).toHaveLength(1024)
})

it('Alertmanager gets no alert that ends before it starts, even by the clock of another machine', async () => {
  const sinceAt = Date.now() + 600_000
  const ahead = finding({ sinceAt })
  const { bodies } = await sent('alertmanager', [
    news({ finding: ahead }),
    news({ finding: ahead, change: 'updates', toldSeverity: 'warning' }),
    news({ finding: ahead, change: 'ends', endedAt: Date.now() }),
  ])
  const alerts = (bodies as { startsAt: string; endsAt: string }[][]).flat()
  expect(alerts).toHaveLength(4)
  for (const { startsAt, endsAt } of alerts) expect(Date.parse(startsAt)).toBeLessThanOrEqual(Date.parse(endsAt))
})

it.each(['waybridge', 'slack', 'teams', 'pagerduty', 'alertmanager'] as const)(
  'a test alert in the format %s says that nothing is wrong',
  async (format) => {
    const { test } = await sent(format, [], 'canary-secret-of-the-receiver')
    const bodies = await test()
    expect(JSON.stringify(bodies)).toContain('nothing is wrong')
    // A test alert ends at once.
    if (format === 'pagerduty') expect(bodies.map(({ event_action }) => event_action)).toEqual(['trigger', 'resolve'])
  },
)

it('the reason of a failed alert contains the answer of the receiver, without the secrets of its URL', async () => {
  const { url, close } = await webhookReceiver((response) =>
    response.writeHead(404).end('no_service for /hook/canary-path with canary-query and canary-secret'),
  )
  onTestFinished(close)
  const hook = {
    url: `${url}/hook/canary-path?key=canary-query`,
    secret: 'canary-secret',
    format: 'waybridge',
  } as const
  const sending = webhookTransport(hook, PAGE).send([BEGINS], AbortSignal.timeout(5000))
  const error = await sending.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(NotDelivered)
  expect((error as Error).message).toMatch(/^it answers 404: no_service for /)
  expect((error as Error).message).not.toContain('canary')
})
