import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface DropAreaProps {
  /** Shown while a file is dragged over it. */
  readonly text: string
  readonly take: (file: File) => void
  readonly children: ComponentChildren
}

/** A view onto which a file may be dropped; a file that is dropped elsewhere in the window does not replace the page. */
export function DropArea({ text, take, children }: DropAreaProps): JSX.Element {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setOver(true)
    }
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false)
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setOver(false)
      const [file] = event.dataTransfer.files
      if (file) take(file)
    }
    addEventListener('dragover', over)
    addEventListener('dragleave', leave)
    addEventListener('drop', drop)
    return () => {
      removeEventListener('dragover', over)
      removeEventListener('dragleave', leave)
      removeEventListener('drop', drop)
    }
  }, [])
  return (
    <div class="drop-area">
      {children}
      {isOver && (
        <div class="drop-here">
          <p>
            <Icon name="upload" size={24} />
            {text}
          </p>
        </div>
      )}
    </div>
  )
}
