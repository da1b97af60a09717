import { waybridge } from '../support/cli.ts'
import type { Fault } from './fault.ts'
import type { Site } from './site.ts'

/** Where a finding can be read. */
export const SURFACES = ['status', 'why', 'page', 'webhook', 'metric'] as const
export type Surface = (typeof SURFACES)[number]

/** Those that show a fault's finding: a browser is not everywhere, and not every fault concerns a van. */
export function surfacesOf(site: Site, { code, van }: Fault): Surface[] {
  if (code === undefined) return ['why']
  return SURFACES.filter((surface) => (surface === 'page' ? site.page : surface === 'why' ? van : true))
}

/** Whether a surface shows the finding of a fault now. Rejects if it cannot be asked. */
export const SHOWS: Readonly<Record<Surface, (site: Site, fault: Fault) => Promise<boolean>>> = {
  status: async (site, { code }) => (await statusOf(site)).findings.some((finding) => finding.code === code),

  async why({ product }, { code, says, van = '' }) {
    const { errors, out } = await waybridge(['why', van, '--json', '--config', product.dir])
    // A device of which nothing is known yet has no finding.
    if (out === '' && errors.includes('no device')) return false
    if (code === undefined) return says?.test(out) === true
    return (JSON.parse(out) as { findings: StatusFinding[] }).findings.some((finding) => finding.code === code)
  },

  async page(site, fault) {
    return (await onPage(site, fault)?.count()) !== 0
  },

  async webhook({ webhook }, { code }) {
    const holding = new Set<string>()
    for (const { body } of webhook.posts) {
      const told = JSON.parse(body) as { code: string; id: string; change: string }
      if (told.code !== code) continue
      if (told.change === 'ends') holding.delete(told.id)
      else holding.add(told.id)
    }
    return holding.size > 0
  },

  async metric({ product }, { code }) {
    const metrics = await fetch(`http://127.0.0.1:${product.ports.admin}/metrics`)
    return (await metrics.text()).includes(`waybridge_findings{code="${code}"`)
  },
}

function onPage({ page }: Site, { code }: Fault) {
  const named = page?.locator('a.mono').getByText(String(code), { exact: true })
  return named && page?.locator('.findings .finding:not(.is-over)').filter({ has: named })
}

/** What the page says of a fault's finding, in the words of a dispatcher; undefined where there is no browser, or it says nothing. */
export async function pageSays(site: Site, fault: Fault): Promise<string | undefined> {
  const [said] = (await onPage(site, fault)?.allInnerTexts()) ?? []
  return said?.replaceAll(/\s+/g, ' ')
}

interface StatusFinding {
  readonly code: string
  readonly severity: string
  readonly message: string
}

/** What `waybridge status --json` prints, and its exit code. */
export async function statusOf({ product }: Site) {
  const { code, out } = await waybridge(['status', '--json', '--config', product.dir])
  return { exitCode: code, ...(JSON.parse(out) as { verdict: string; findings: StatusFinding[] }) }
}
