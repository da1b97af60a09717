import { z } from 'zod'
import {
  fields,
  httpUrl,
  id,
  leaf,
  list,
  oneOf,
  orNull,
  section,
  setting,
  span,
  text,
  urlWithPassword,
} from './leaves.ts'

const severity = oneOf('info', 'warning', 'error')
const LEAST = 'Lowest severity that is told: `info`, `warning`, `error`.'

/** The URL of a webhook. Its path and query may be a secret: no message contains them. */
const webhookUrl = leaf((value) => {
  const url = URL.parse(value)
  return url && /^https?:$/.test(url.protocol) && !url.username && !url.hash ? value : undefined
}, 'expected an http or https URL without user name and fragment')

/** May contain a password. */
const smtpUrl = urlWithPassword(/^smtps?:\/\/[^/]/, 'expected a URL such as smtps://user:password@mail.example.com')

const mailAddress = leaf(
  (value) => (/^(?:[^<>\r\n]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/.test(value) ? value : undefined),
  'expected an address such as ops@example.com or Operations <ops@example.com>',
)

/** Minutes since midnight. */
const clock = leaf((value) => {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(value) ?? []
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes)
}, 'expected a time of the day such as 22:00')

/** The receivers of alerts when findings begin and end. */
export const alerts = section({
  webhooks: list(
    fields({
      url: webhookUrl.describe('URL to which each message is posted as JSON; redirects are not followed.'),
      secret: text.optional().describe('Key of the signature, of PagerDuty or of Alertmanager.'),
      min_severity: setting(severity, 'warning', LEAST),
      format: setting(
        oneOf('waybridge', 'slack', 'teams', 'pagerduty', 'alertmanager'),
        'waybridge',
        '`waybridge`, `slack`, `teams`, `pagerduty` or `alertmanager`.',
      ),
      companies: orNull(z.array(id, { error: 'expected a list' }).min(1, 'expected at least one company')).describe(
        'Companies whose findings are told; null: all.',
      ),
    }).superRefine(({ format, secret }, context) => {
      if (format === 'pagerduty' && secret === undefined)
        context.addIssue({ code: 'custom', path: ['secret'], message: 'expected the integration key of PagerDuty' })
      if ((format === 'slack' || format === 'teams') && secret !== undefined)
        context.addIssue({ code: 'custom', path: ['secret'], message: `format ${format} has no secret but its URL` })
    }),
  ).describe('Webhooks that are told of findings.'),
  mail: orNull(
    fields({
      smtp: smtpUrl.describe('URL of the mail server, with user name and password if it wants them.'),
      from: mailAddress.describe('Address of the sender.'),
      to: z
        .array(mailAddress, { error: 'expected a list' })
        .min(1, 'expected at least one address')
        .describe('Addresses of those who are told.'),
      min_severity: setting(severity, 'warning', LEAST),
    }),
  ).describe('E-mail that tells of findings; null: none.'),
  quiet_hours: orNull(
    fields({
      from: clock.describe('When they begin, such as `22:00`, in `time_zone`.'),
      until: clock.describe('When they end: what still holds is told then.'),
      except: setting(severity, 'error', 'From this severity on findings are told all the same.'),
    }).superRefine(({ from, until }, context) => {
      if (from === until)
        context.addIssue({ code: 'custom', path: ['until'], message: 'the same as from: that is no time at all' })
    }),
  ).describe('Hours in which only what is serious is told; null: none.'),
  daily: orNull(
    fields({
      at: clock.describe('When it is told, such as `20:00`, in `time_zone`. Before noon it is about the day before.'),
      language: setting(oneOf('en', 'de'), 'en', 'Language of the message.'),
    }),
  ).describe('A message a day about the routes of each company, to each receiver; null: none.'),
  flap: setting(span, '10m', 'A finding that comes back within this time is told again only once it lasts as long.'),
  page_url: orNull(httpUrl).describe('URL of the page for links in messages; null: the address of the admin port.'),
})
