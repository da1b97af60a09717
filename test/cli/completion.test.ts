import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { VERSION } from '../../src/version.ts'
import { waybridge } from '../support/cli.ts'

it.each([
  ['st', ['start', 'status']],
  ['parked r', ['retry']],
  ['routes put roster.csv --fo', ['--force']],
])('bash completes "waybridge %s"', async (typed, expected) => {
  const { out } = await waybridge(['completion', 'bash'])
  const words = ['waybridge', ...typed.split(' ')]
  const ask = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _waybridge; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', `${out}\n${ask}`], { encoding: 'utf8' })
  expect([stdout.trim().split('\n'), stderr]).toEqual([expected, ''])
})

it('zsh and fish get scripts with the same commands', async () => {
  const [zsh, fish] = await Promise.all([waybridge(['completion', 'zsh']), waybridge(['completion', 'fish'])])
  expect(zsh.out).toMatch(/^#compdef waybridge\n/)
  expect(zsh.out).toContain('"parked"|"parked "*) next=(list retry delete) ;;')
  expect(fish.out).toContain(
    "complete -c waybridge -n '__fish_seen_subcommand_from parked' -a retry -d 'try parked positions again'",
  )
})

it('completion refuses another shell', async () => {
  expect(await waybridge(['completion', 'ksh'])).toEqual({
    code: 1,
    out: '',
    errors: 'Give a shell: bash, zsh, fish.\n',
  })
})

it('waybridge without a command lists the commands by purpose', async () => {
  const { code, out } = await waybridge([])
  expect([code, out]).toEqual([0, expect.stringMatching(/Run it:[^]*See what is wrong:[^]*Say who drives what:/)])
  expect((await waybridge(['--version'])).out).toBe(`${VERSION}\n`)
})
