/** Files that name the version, besides CHANGELOG.md. */
export const VERSIONED = ['package.json', 'package-lock.json', 'docker/helm/waybridge/Chart.yaml'] as const

/** The version that `package.json` is on the way to: `0.2.0` of `0.2.0-dev`. */
export function releasedVersion(packageJson: string): string {
  return (JSON.parse(packageJson) as { version: string }).version.replace(/-dev$/, '')
}

/** Returns why this version cannot be released, a sentence each. @param read reads a file of the clone */
export function problemsOf(read: (file: string) => string, isTagged: boolean): string[] {
  const version = releasedVersion(read('package.json'))
  const section = sectionOf(read('CHANGELOG.md'), 'Unreleased')
  return [
    ...(isTagged ? [`there is a tag v${version}`] : []),
    ...VERSIONED.filter((file) => !read(file).includes(`${version}-dev`)).map(
      (file) => `${file} does not have the version ${version}-dev`,
    ),
    ...(section === undefined ? ['CHANGELOG.md has no section [Unreleased]'] : []),
    ...(section !== undefined && !section.includes(UPGRADE)
      ? [
          `the section [Unreleased] of CHANGELOG.md has no "${UPGRADE}": say there what whoever upgrades has to do, or that it is nothing`,
        ]
      : []),
  ]
}

/** A file with the version without `-dev`. */
export function raised(text: string, version: string): string {
  return text.replaceAll(`${version}-dev`, version)
}

/** The changelog with its open section closed. */
export function closed(changelog: string, version: string, day: string): string {
  return changelog.replace('## [Unreleased]', `## [${version}] – ${day}`)
}

/** The text below the heading of a version; undefined: there is none. */
export function sectionOf(changelog: string, version: string): string | undefined {
  const [, ...sections] = changelog.split(/^## /m)
  const found = sections.find((section) => section.startsWith(`[${version}]`))
  return found?.slice(found.indexOf('\n')).trim()
}

const UPGRADE = '### To do before you upgrade'
