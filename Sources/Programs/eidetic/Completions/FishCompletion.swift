import EideticCLI

/// Completion for fish: one line per option or word, with the condition of its command.
enum FishCompletion {
    static func script(for root: Command) -> String {
        let name = root.name
        let lines = root.allCommands.flatMap { words, command in rules(program: name, words: words, command: command) }
        return """
            # Completes \(name)'s command lines in fish.
            function __\(name)_at
                set -l words (commandline -opc | string match -v -- '-*')[2..]
                test (count $words) -ge (count $argv); or return 1
                for index in (seq (count $argv))
                    test $words[$index] = $argv[$index]; or return 1
                end
            end
            function __\(name)_before
                __\(name)_at $argv; or return 1
                set -l words (commandline -opc | string match -v -- '-*')[2..]
                test (count $words) -eq (count $argv)
            end
            complete -c \(name) -f
            \(lines.joined(separator: "\n"))
            """
    }

    private static func rules(program name: String, words: [String], command: Command) -> [String] {
        let path = words.map { " " + $0 }.joined()
        let here = "complete -c \(name) -n '__\(name)_at\(path)'"
        let next = "complete -c \(name) -n '__\(name)_before\(path)'"
        var lines = command.subcommands.map { "\(next) -a \($0.name) -d \(quote($0.summary))" }
        switch command.operands.completion {
        case .nothing: break
        case .files: lines.append("\(here) -F")
        case .directories: lines.append("\(here) -a '(__fish_complete_directories)'")
        case .words(let words): lines.append("\(next) -a \(quote(words.joined(separator: " ")))")
        }
        let options = command.subcommands.isEmpty ? command.allOptions : [Option.help]
        lines += options.map { "\(command.subcommands.isEmpty ? here : next) \(flags(for: $0))" }
        if words.isEmpty { lines.append("\(next) -l version -d 'show the version'") }
        return lines
    }

    private static func flags(for option: Option) -> String {
        var parts = ["-l \(option.name)"]
        if let letter = option.letter { parts.append("-s \(letter)") }
        if let value = option.value { parts.append(arguments(for: value)) }
        return (parts + ["-d \(quote(option.help))"]).joined(separator: " ")
    }

    private static func arguments(for value: Option.Value) -> String {
        let required = value.isOptional ? "" : "-r "
        return switch value.completion {
        case .nothing: value.isOptional ? "" : "-x"
        case .files: "\(required)-F"
        case .directories: "\(required)-a '(__fish_complete_directories)'"
        case .words(let words): "\(value.isOptional ? "" : "-x ")-a \(quote(words.joined(separator: " ")))"
        }
    }

    private static func quote(_ text: String) -> String {
        "'" + text.map { "\\'".contains($0) ? "\\\($0)" : String($0) }.joined() + "'"
    }
}
