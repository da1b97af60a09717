import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { documentedCommands } from './documented.ts'
import { run } from './engine.ts'
import { BIN, CACHE, ROOT } from './place.mjs'

/* The chart with several values, each object read strictly as the type of Kubernetes that it is. */

const CHART = join(ROOT, 'docker/helm/waybridge')
const VALUES = join(ROOT, 'test/deploy/values')
const VERSIONS = ['1.30', '1.37']

beforeEach(({ skip }) => skip(!existsSync(join(BIN, 'helm')), 'there is no helm, and no Go that builds it'))

it('helm finds no fault in the chart', async () => {
  expect(await run('helm', 'lint', '--strict', CHART)).toContain('0 chart(s) failed')
})

it.each(['defaults', ...readdirSync(VALUES)])('the chart with %s makes valid objects', async (name) => {
  const values = name === 'defaults' ? [] : ['--values', join(VALUES, name)]
  const text = await run('helm', 'template', 'tracking', CHART, ...values)
  // HAProxy uses no search domains.
  const domain = name === 'own-api.yaml' ? 'k8s.example.com' : 'cluster.local'
  expect(text).toContain(`value: tracking-gateway-1.tracking-gateway.default.svc.${domain}\n`)
  await validate(text)
})

it('the documented command makes valid objects with the files of a configuration of your own', async () => {
  const folder = join(CACHE, 'chart')
  mkdirSync(join(folder, 'my'), { recursive: true })
  for (const file of ['gateway.yaml', 'devices.yaml', 'routes.csv'])
    writeFileSync(join(folder, 'my', file), `# own ${file}\n`)
  const install = documentedCommands('## With Kubernetes').find((command) => command.startsWith('helm install'))!
  const template = install.replace('helm install', 'helm template').replace('docker/helm/waybridge', CHART)
  const text = await run('sh', '-c', `cd '${folder}' && ${template}`)
  expect(text).toContain('# own routes.csv')
  await validate(text)
})

async function validate(text: string): Promise<void> {
  const objects = parseAllDocuments(text).map((document) => document.toJS() as { kind: string } | null)
  expect(objects.filter((object) => object?.kind === 'StatefulSet').length).toBeGreaterThan(1)
  const file = join(CACHE, 'objects.yaml')
  writeFileSync(file, text)
  for (const version of VERSIONS) await run('kubernetes-validate', '--strict', '-k', version, file)
}
