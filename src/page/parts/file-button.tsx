import type { JSX } from 'preact'
import { Icon } from './icon.tsx'

interface FileButtonProps {
  readonly text: string
  readonly take: (file: File) => void
  readonly tone?: 'primary' | 'quiet'
}

/** Chooses a CSV file or a spreadsheet. */
export function FileButton({ text, take, tone = 'primary' }: FileButtonProps): JSX.Element {
  return (
    <label class={`button ${tone} file-button`}>
      <Icon name="upload" size={14} />
      {text}
      <input
        type="file"
        class="sr-only"
        accept=".csv,.txt,.tsv,.xlsx,text/csv"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? []
          // Without this, choosing the same file again would cause no event.
          event.currentTarget.value = ''
          if (file) take(file)
        }}
      />
    </label>
  )
}
