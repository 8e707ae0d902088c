import EideticCLI

/// Completion for bash, with one function that walks the command line.
enum BashCompletion {
    static func script(for root: Command) -> String {
        let name = root.name
        return """
            # Completes \(name)'s command lines in bash.
            _\(name)() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
                local command='' index
                # bash splits "--name=value" into three words.
                if [[ $current == '=' ]]; then
                    current=''
                elif [[ $previous == '=' ]]; then
                    previous=${COMP_WORDS[COMP_CWORD - 2]}
                fi
                for ((index = 1; index < COMP_CWORD; index++)); do
                    case "$command ${COMP_WORDS[index]}" in
            \(commandCases(for: root))
                    esac
                done
                COMPREPLY=()
                if [[ $current != -* ]]; then
                    case "$command:$previous" in
            \(valueCases(for: root))
                    esac
                fi
                local words='' files=''
                case "$command" in
            \(wordCases(for: root))
                esac
                mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
                if [[ -n $files && $current != -* ]]; then
                    compopt -o filenames
                    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$files" -- "$current")
                fi
            }
            complete -F _\(name) \(name)
            """
    }

    private static func commandCases(for root: Command) -> String {
        root.allCommands.filter { !$0.words.isEmpty }.map { words, _ in
            let parent = words.dropLast().joined(separator: " ")
            return "            '\(parent) \(words[words.count - 1])') command='\(words.joined(separator: " "))' ;;"
        }.joined(separator: "\n")
    }

    /// Returns the cases that complete the value of an option.
    private static func valueCases(for root: Command) -> String {
        let rules = root.allCommands.flatMap { words, command in
            command.options.compactMap { option in
                option.value.map { value in
                    let names = ["--\(option.name)"] + (option.letter.map { ["-\($0)"] } ?? [])
                    let patterns = names.map { "'\(words.joined(separator: " ")):\($0)'" }.joined(separator: " | ")
                    return "            \(patterns)) \(reply(for: value.completion)) ;;"
                }
            }
        }
        return rules.joined(separator: "\n")
    }

    private static func reply(for completion: Completion) -> String {
        switch completion {
        case .nothing: "return"
        case .files: "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return"
        case .directories: "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$current\"); return"
        case .words(let words):
            "mapfile -t COMPREPLY < <(compgen -W '\(words.joined(separator: " "))' -- \"$current\"); return"
        }
    }

    /// Returns the cases that complete subcommands, operands and options.
    private static func wordCases(for root: Command) -> String {
        root.allCommands.map { words, command in
            let version = words.isEmpty ? ["--version"] : []
            let offered = command.completionWords + command.allOptions.map { "--\($0.name)" } + version
            let files =
                switch command.operands.completion {
                case .files: " files=-f"
                case .directories: " files=-d"
                default: ""
                }
            let path = words.joined(separator: " ")
            return "        '\(path)') words='\(offered.joined(separator: " "))'\(files) ;;"
        }.joined(separator: "\n")
    }
}
