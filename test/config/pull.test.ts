import { describe, expect, it } from 'vitest'
import { CertificateMaker } from '../support/certificates.ts'
import { COMPANY, checked, folder, loadedFolder } from '../support/config-folder.ts'

const gateway = (pull: string) => `${COMPANY}roster: { pull: [${pull}] }\n`
const mistakesIn = async (pull: string) => (await checked({ 'gateway.yaml': gateway(pull) })).mistakes
const URL = '"https://tms.example/day/roster.csv?key=canary"'

describe('roster.pull', () => {
  it('roster.pull has defaults, and a name without the query, which may contain a secret', async () => {
    const { config } = await loadedFolder(
      await folder({
        'gateway.yaml': gateway(`{ url: ${URL}, company_id: 7 }, { url: ${URL}, company_id: 7, name: B }`),
      }),
    )
    expect(config.roster.pull).toEqual([
      {
        url: 'https://tms.example/day/roster.csv?key=canary',
        every: 300_000,
        token: undefined,
        company_id: '7',
        ca: null,
        name: 'https://tms.example/day/roster.csv',
      },
      expect.objectContaining({ name: 'B' }),
    ])
  })

  it('roster.pull is empty without settings', async () => {
    const { config } = await loadedFolder(await folder({ 'gateway.yaml': COMPANY }))
    expect(config.roster.pull).toEqual([])
  })

  it.each([
    [
      '{ url: "http://tms.example/a.csv", company_id: 7 }',
      /^gateway\.yaml:2:\d+ roster\.pull\[0\]\.url: expected an https URL/,
    ],
    ['{ url: "https://user:canary@tms.example/a", company_id: 7 }', /roster\.pull\[0\]\.url: expected an https URL/],
    ['{ url: roster.csv, company_id: 7 }', /roster\.pull\[0\]\.url: expected an https URL/],
    [`{ url: ${URL} }`, /roster\.pull\[0\]\.company_id: missing/],
    [
      `{ url: ${URL}, company_id: 8 }`,
      /^gateway\.yaml:2:\d+ roster\.pull\[0\]\.company_id: company 8 is not among the companies/,
    ],
    [`{ url: ${URL}, company_id: 7, every: 10ms }`, /roster\.pull\[0\]\.every: expected a duration from 1s to 24h/],
    [`{ url: ${URL}, company_id: 7, token: a b }`, /roster\.pull\[0\]\.token: expected printable ASCII/],
    [
      `{ url: ${URL}, company_id: 7 }, { url: ${URL}, company_id: 7 }`,
      /roster\.pull\[1\]\.name: another pull has the name https:/,
    ],
    [
      `{ url: ${URL}, company_id: 7, ca: no.pem }`,
      /roster\.pull\[0\]\.ca: the file \S*no\.pem cannot be read \(ENOENT\)/,
    ],
    [`{ url: ${URL}, company_id: 7, evry: 5m }`, /roster\.pull\[0\]\.evry: unknown key: did you mean every\?/],
  ])('roster.pull reports one mistake without a secret for %s', async (pull, mistake) => {
    const mistakes = await mistakesIn(pull)
    expect(mistakes).toEqual([expect.stringMatching(mistake)])
    expect(mistakes.join()).not.toContain('canary')
  })

  it('roster.pull can be without TLS on this machine', async () => {
    for (const host of ['127.0.0.1', 'localhost', '[::1]'])
      expect(await mistakesIn(`{ url: "http://${host}:8000/a.csv", company_id: 7 }`)).toEqual([])
  })

  it('roster.pull accepts only PEM as its CA', async () => {
    const certificates = await CertificateMaker.create()
    const { files } = await certificates.authority('own')
    const [own, key] = await Promise.all(
      [files.cert, files.key].map((ca) => mistakesIn(`{ url: ${URL}, company_id: 7, ca: "${ca}" }`)),
    )
    expect([own, key]).toEqual([[], [expect.stringContaining('is no certificate in PEM')]])
    await certificates.remove()
  })
})
