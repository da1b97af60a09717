import { execFile } from 'node:child_process'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { adminFixture, hold, TOKEN } from '../support/admin.ts'
import { findOpenApiClient } from '../support/openapi-client.mjs'
import { temporaryDir } from '../support/running.ts'
import { ROOT } from '../support/structure/sources.ts'

const modules = findOpenApiClient()
const MISSING = 'needs openapi-typescript (npm run test:page)'
const run = promisify(execFile)

/** Uses each id of an answer in a path, a query or a body, without a cast. */
const CLIENT = join(ROOT, 'test/support/openapi-client/client.ts.txt')

const TSCONFIG = {
  compilerOptions: {
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    strict: true,
    noUncheckedIndexedAccess: false,
    allowImportingTsExtensions: true,
    noEmit: true,
  },
  include: ['*.ts'],
}

const admin = adminFixture()

it.skipIf(!modules)(
  `a client that openapi-typescript generates from the document of the admin port compiles without casts, and works; ${MISSING}`,
  async () => {
    const dir = await temporaryDir()
    await symlink(modules!, join(dir, 'node_modules'))
    await hold(admin.redis, 'unknown', '77')
    const document = (await admin.ask('/openapi.json')).text
    const files = {
      'openapi.json': document,
      'package.json': '{ "type": "module" }',
      'client.ts': await readFile(CLIENT, 'utf8'),
      'tsconfig.json': JSON.stringify(TSCONFIG),
    }
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(dir, name), text)))
    const generator = join(modules!, 'openapi-typescript/bin/cli.js')
    await run(process.execPath, [generator, 'openapi.json', '-o', 'api.ts'], { cwd: dir })
    const mistakes = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', dir]).catch(
      (error: { stdout: string }) => error,
    )
    expect(mistakes.stdout).toBe('')
    const { stdout } = await run(process.execPath, ['client.ts', admin.url, TOKEN], { cwd: dir })
    expect(JSON.parse(stdout)).toEqual({
      assigned: expect.stringMatching(/^Van 12 gets route 1001 \(courier 42\)/),
      moved: expect.stringMatching(/^\d+$/),
      lines: [
        ['356307042441014', '2001'],
        ['0356307042441013', '9007199254740993'],
      ],
      put: [],
      text: [1, 1],
      written: ['Van 12b', '9007199254740993'],
      window: true,
      parked: 0,
      refused: expect.stringContaining('no device with this id is configured'),
      held: 1,
    })
  },
)
