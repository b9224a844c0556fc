// The scripts for shells. They know nothing of the commands: each asks the program for what fits, and hands it to the shell as
// text. None evaluates anything that comes back.

export const shellNames = ["bash", "zsh", "fish", "powershell"] as const;

export type ShellName = (typeof shellNames)[number];

// `read` and not `compgen -W`, which would expand what a server calls its tools.
const bash = `# Completion of plenum for bash. Put this into ~/.bashrc:
#   source <(plenum completion bash)
_plenum() {
  local reply
  COMPREPLY=()
  while IFS= read -r reply; do
    COMPREPLY+=("$reply")
  done < <(command plenum __complete bash "\${COMP_LINE:0:COMP_POINT}" -- "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null </dev/null)
}
complete -o nospace -F _plenum plenum
`;

const zsh = `#compdef plenum
# Completion of plenum for zsh. Put this into ~/.zshrc, after compinit:
#   source <(plenum completion zsh)
# or into a file _plenum in a folder of $fpath:
#   plenum completion zsh > ~/.zfunc/_plenum
_plenum() {
  local line value text files
  local -a values shown open openShown
  while IFS= read -r line; do
    if [[ $line == :* ]]; then
      files=\${line#:}
      continue
    fi
    value=\${line%%$'\\t'*}
    text=\${line#*$'\\t'}
    [[ -n $text ]] && text="$value  -- $text" || text=$value
    if [[ $value == *[=:/] ]]; then
      open+=("$value")
      openShown+=("$text")
    else
      values+=("$value")
      shown+=("$text")
    fi
  done < <(command plenum __complete zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)
  local found=1
  (( $#values )) && compadd -l -d shown -a -- values && found=0
  (( $#open )) && compadd -l -S '' -d openShown -a -- open && found=0
  case $files in
    folders) _files -/ && found=0 ;;
    ?*) _files && found=0 ;;
  esac
  return found
}
if [[ $funcstack[1] == _plenum ]]; then
  _plenum "$@"
else
  compdef _plenum plenum
fi
`;

const fish = `# Completion of plenum for fish. Put this into ~/.config/fish/config.fish:
#   plenum completion fish | source
function __plenum_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    for line in (command plenum __complete fish -- $words "$current" 2>/dev/null </dev/null)
        switch $line
            case ':folders'
                __fish_complete_directories "$current"
            case ':*'
                __fish_complete_path "$current"
            case '*'
                printf '%s\\n' $line
        end
    end
end
complete -c plenum -f -a '(__plenum_complete)'
`;

const powershell = `# Completion of plenum for PowerShell. Put this into the file that $PROFILE names:
#   plenum completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName plenum -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition -or $_.Extent.EndOffset -eq $cursorPosition -and $wordToComplete -eq '' } |
        ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text } })
    $program = (Get-Command -Name plenum -CommandType Application, ExternalScript | Select-Object -First 1).Source
    # An empty word is lost on the way to a program in old versions: the program takes what follows the last word as empty.
    & $program __complete powershell -- @words $(if ($wordToComplete) { $wordToComplete } else { '""' }) 2>$null | ForEach-Object {
        $value, $text = $_ -split "\`t", 2
        if (-not $text) { $text = $value }
        $quoted = $value
        if ($value -notmatch '^[A-Za-z0-9_./:=+-]+$') {
            $quoted = "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($value) + "'"
        }
        [System.Management.Automation.CompletionResult]::new($quoted, $value, 'ParameterValue', $text)
    }
}
`;

export const scripts: { readonly [K in ShellName]: string } = { bash, zsh, fish, powershell };
