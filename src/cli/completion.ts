import type { Command } from 'commander'
import { UserError } from '../errors.ts'
import { printExact } from './output.ts'

/** `waybridge completion bash|zsh|fish`: prints the script that completes commands and options. @throws UserError */
export function completionCommand(shell: string, program: Command): number {
  const write = SHELLS.get(shell)
  if (!write) throw new UserError(`Give a shell: ${[...SHELLS.keys()].join(', ')}.`)
  printExact(write(placesIn(program)))
  return 0
}

/** Words that may follow others on a command line. */
interface CompletedWords {
  /** `routes put`; empty: nothing was typed yet. */
  readonly words: string
  readonly next: readonly { readonly word: string; readonly description: string }[]
}

function placesIn(command: Command, words = ''): CompletedWords[] {
  const commands = command.commands.map((each) => ({ word: each.name(), description: each.description() }))
  const options = command.options.map(({ long, description }) => ({ word: long ?? '', description }))
  const below = command.commands.flatMap((each) => placesIn(each, `${words} ${each.name()}`.trim()))
  return [{ words, next: [...commands, ...options] }, ...below]
}

function bash(places: readonly CompletedWords[]): string[] {
  return [
    '# For bash: source <(waybridge completion bash)',
    '_waybridge() {',
    ...wordsTyped('${COMP_WORDS[@]:1:COMP_CWORD-1}'),
    '  local next=""',
    ...choices(places, (next) => `next="${next.join(' ')}"`),
    '  COMPREPLY=($(compgen -W "$next" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _waybridge waybridge',
  ]
}

function zsh(places: readonly CompletedWords[]): string[] {
  return [
    '#compdef waybridge',
    '# For zsh: source <(waybridge completion zsh)',
    '_waybridge() {',
    ...wordsTyped('${words[@]:1:$((CURRENT - 2))}'),
    '  local -a next',
    ...choices(places, (next) => `next=(${next.join(' ')})`),
    '  compadd -- $next || _files',
    '}',
    'compdef _waybridge waybridge',
  ]
}

/** The words before the one that is typed, without options. */
function wordsTyped(all: string): string[] {
  return [
    '  local typed="" word',
    `  for word in "${all}"; do [[ $word == -* ]] || typed="$typed $word"; done`,
    '  typed="${typed# }"',
  ]
}

/** The longest words that fit come first: `routes put` before `routes`. */
function choices(places: readonly CompletedWords[], set: (next: readonly string[]) => string): string[] {
  const longest = places.toSorted((one, other) => other.words.length - one.words.length)
  return [
    '  case "$typed" in',
    ...longest.map(({ words, next }) => {
      const pattern = words === '' ? '""' : `"${words}"|"${words} "*`
      return `    ${pattern}) ${set(next.map(({ word }) => word))} ;;`
    }),
    '  esac',
  ]
}

function fish(places: readonly CompletedWords[]): string[] {
  const lines = places.flatMap(({ words, next }) => {
    const condition =
      words === ''
        ? '__fish_use_subcommand'
        : words
            .split(' ')
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join('; and ')
    return next.map(({ word, description }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
      return `complete -c waybridge -n '${condition}' ${what} -d '${description.replaceAll(/['\\]/g, '\\$&')}'`
    })
  })
  return ['# For fish: waybridge completion fish | source', ...lines]
}

const SHELLS = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
])
