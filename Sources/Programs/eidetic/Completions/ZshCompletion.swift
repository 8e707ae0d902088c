import EideticCLI

/// Completion for zsh: one function per command, based on `_arguments`.
enum ZshCompletion {
    static func script(for root: Command) -> String {
        let functions = root.allCommands.reversed().map { function(path: [root.name] + $0.words, command: $0.command) }
        return """
            #compdef \(root.name)
            # Completes \(root.name)'s command lines in zsh.

            \(functions.joined(separator: "\n\n"))

            # In a file in $fpath, the script is the function's body; if sourced, it registers the function.
            if [[ ${funcstack[1]} == _\(root.name) ]]; then
                _\(root.name) "$@"
            else
                compdef _\(root.name) \(root.name)
            fi
            """
    }

    private static func function(path: [String], command: Command) -> String {
        let name = "_" + path.joined(separator: "_")
        var specs = command.allOptions.flatMap(specifications)
        if path.count == 1 { specs.append(quote("--version[show the version]")) }
        if command.subcommands.isEmpty {
            specs += operandSpecifications(for: command.operands)
            return "\(name)() {\n    _arguments -s -S \(specs.joined(separator: " \\\n        "))\n}"
        }
        specs += ["'1:command:->command'", "'*::argument:->argument'"]
        let names = command.subcommands.map { quote("\(escape($0.name)):\($0.summary)") }
        let cases = command.subcommands.map { "            \($0.name)) \(name)_\($0.name) ;;" }
        return """
            \(name)() {
                local context state state_descr line
                typeset -A opt_args
                _arguments -C \(specs.joined(separator: " \\\n        "))
                case $state in
                command)
                    local -a commands=(
                        \(names.joined(separator: "\n            "))
                    )
                    _describe command commands
                    ;;
                argument)
                    case $line[1] in
            \(cases.joined(separator: "\n"))
                    esac
                    ;;
                esac
            }
            """
    }

    private static func specifications(for option: Option) -> [String] {
        let names = ["--\(option.name)"] + (option.letter.map { ["-\($0)"] } ?? [])
        return names.map { written in
            let help = "[\(escape(option.help))]"
            guard let value = option.value else { return quote(written + help) }
            let sign = written.hasPrefix("--") ? (value.isOptional ? "=-" : "=") : "+"
            let separator = value.isOptional ? "::" : ":"
            let action = action(for: value.completion)
            return quote("\(written)\(sign)\(help)\(separator)\(escape(value.placeholder)):\(action)")
        }
    }

    private static func operandSpecifications(for operands: Operands) -> [String] {
        guard operands.count.upperBound > 0 else { return [] }
        return [quote("*:\(escape(operands.synopsis)):\(action(for: operands.completion))")]
    }

    private static func action(for completion: Completion) -> String {
        switch completion {
        case .nothing: " "
        case .files: "_files"
        case .directories: "_files -/"
        case .words(let words): "(\(words.joined(separator: " ")))"
        }
    }

    /// Escapes colons and brackets, which have a meaning in a specification.
    private static func escape(_ text: String) -> String {
        text.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    }

    private static func quote(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
