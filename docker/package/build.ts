import { execFile } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { buildPage, isPageBuilt } from '../../src/page/build/index.mjs'
import { PAGE_DIR } from '../../src/page/build/folder.mjs'
import { COMMIT } from '../../src/version.ts'
import { licenceTexts, materials } from './materials.ts'
import { ROOT } from './shipped.ts'

/*
 * Runs before `npm pack`, and in docker/Dockerfile: builds into dist/ what the package holds beside the npm packages that it
 * needs (`bundleDependencies`: the versions that were tested). Node strips no types below node_modules, so the package has
 * JavaScript: what the command line imports, and no more. Needs the npm packages alone.
 */
const DIST = join(ROOT, 'dist')
const run = promisify(execFile)

rmSync(DIST, { recursive: true, force: true })
await run(process.execPath, [
  join(ROOT, 'node_modules/typescript/bin/tsc'),
  '-p',
  join(import.meta.dirname, 'tsconfig.json'),
])
nameCompiledFiles()
// What the code reads beside itself.
for (const file of globSync('src/**/*.{lua,sh}', { cwd: ROOT })) cpSync(join(ROOT, file), join(DIST, file))
if (!isPageBuilt()) await buildPage()
cpSync(PAGE_DIR, join(DIST, 'page'), { recursive: true, filter: (file) => basename(file) !== 'stamp' })
const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, string>
// Where there is no folder of git, as in the image, the commit is an argument of the build.
write('dist/package.json', { name, version, type: 'module', commit: process.env.COMMIT || COMMIT })
write('dist/sbom.cdx.json', await materials())
writeFileSync(join(DIST, 'LICENCES.txt'), licenceTexts())

/** TypeScript renames what is imported, but not the files that are started: `new URL('./xlsx-worker.ts', import.meta.url)`. */
function nameCompiledFiles(): void {
  for (const file of globSync('src/**/*.js', { cwd: DIST })) {
    const path = join(DIST, file)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replaceAll(/(new URL\('[^']+)\.ts'(?=, import\.meta\.url\))/g, "$1.js'"))
  }
}

function write(file: string, value: object): void {
  writeFileSync(join(ROOT, file), `${JSON.stringify(value, null, 2)}\n`)
}
