import EideticCore

/// A parser of command lines.
///
/// The usual rules apply: `--name value`, `--name=value`, `-h`; options and operands in any order; `--` ends the
/// options; `-` is an operand. All errors of a command line are reported together.
package struct CommandLineParser {
    /// The result of parsing a command line.
    package enum Outcome: Sendable {
        /// The last command of the path is to be run.
        case run(path: [Command], arguments: Arguments)
        /// The help of the last command of the path is to be shown.
        case help(path: [Command])
        case version
        case manualPage
        /// The command line is invalid; each problem is one line.
        case failure(path: [Command], problems: [String])
    }

    private var path: [Command]
    private var remainingWords: ArraySlice<String>
    private var arguments = Arguments()
    private var problems: [String] = []
    private var isHelpRequested = false

    private init(root: Command, words: [String]) {
        path = [root]
        remainingWords = words[...]
    }

    /// Parses the words after the program's name.
    package static func parse(_ words: [String], root: Command) -> Outcome {
        var parser = CommandLineParser(root: root, words: words)
        return parser.resolveCommand() ?? parser.parseArguments()
    }

    private var command: Command { path[path.count - 1] }

    /// Finds the command without subcommands; returns an outcome if there is none to run.
    private mutating func resolveCommand() -> Outcome? {
        while !command.subcommands.isEmpty {
            guard let word = remainingWords.popFirst() else {
                return .failure(path: path, problems: ["missing command"])
            }
            if word == "--help" || word == "-h" { return .help(path: path) }
            if let outcome = programOutcome(of: word) { return outcome }
            guard let next = command.subcommands.first(where: { $0.name == word }) else {
                return .failure(path: path, problems: [unknownCommandMessage(for: word)])
            }
            path.append(next)
        }
        return nil
    }

    /// The outcome of an option that only the program itself has; `--man-page` is for packagers, and not in the help.
    private func programOutcome(of word: String) -> Outcome? {
        guard path.count == 1 else { return nil }
        return word == "--version" ? .version : word == "--man-page" ? .manualPage : nil
    }

    private func unknownCommandMessage(for word: String) -> String {
        let options = ["--help"] + (path.count == 1 ? ["--version"] : [])
        if word.hasPrefix("-") { return unknownOptionMessage(for: word, among: options) }
        let hint = Suggestion.text(for: word, among: command.subcommands.map(\.name))
        return "unknown command \"\(word)\"\(hint)"
    }

    private func unknownOptionMessage(for word: String, among names: [String]) -> String {
        "unknown option \(word)\(Suggestion.text(for: word, among: names))"
    }

    private mutating func parseArguments() -> Outcome {
        while let word = remainingWords.popFirst() {
            if word == "--" {
                arguments.operands += remainingWords
                break
            }
            if let outcome = programOutcome(of: word) { return outcome }
            if word.hasPrefix("--") {
                parseOption(word)
            } else if word.hasPrefix("-"), word.count > 1 {
                parseShortOptions(word)
            } else {
                arguments.operands.append(word)
            }
        }
        if isHelpRequested { return .help(path: path) }
        checkOperands()
        return problems.isEmpty ? .run(path: path, arguments: arguments) : .failure(path: path, problems: problems)
    }

    private mutating func parseOption(_ word: String) {
        let parts = word.divided(at: UInt8(ascii: "="))
        let spelling = String(parts?.front ?? word[...])
        let name = String(spelling.dropFirst(2))
        guard let option = command.allOptions.first(where: { $0.name == name || $0.otherName == name }) else {
            problems.append(unknownOptionMessage(for: spelling, among: command.allOptions.map { "--" + $0.name }))
            return
        }
        record(option, spelling: spelling, value: parts.map { String($0.rest) })
    }

    /// Parses options such as `-h`, `-j 4` or `-j4`; the rest of the word is the value of a letter that has one.
    private mutating func parseShortOptions(_ word: String) {
        var rest = word.dropFirst()
        while let letter = rest.popFirst() {
            guard let option = command.allOptions.first(where: { $0.letter == letter }) else {
                let isFile = (try? FileSystem().linkStatus(of: word)) != nil
                let hint = isFile ? "; for the file of this name write ./\(word)" : ""
                problems.append("unknown option \(word.count == 2 ? word : "-\(letter) in \(word)")\(hint)")
                return
            }
            let takesRest = option.value != nil && !rest.isEmpty
            record(option, spelling: "-\(letter)", value: takesRest ? String(rest) : nil)
            if takesRest { return }
        }
    }

    private mutating func record(_ option: Option, spelling: String, value givenValue: String?) {
        if option.name == Option.help.name { isHelpRequested = true }
        guard let value = option.value else {
            if givenValue != nil { problems.append("\(spelling) takes no value") }
            arguments.values[option.name] = .some(nil)
            return
        }
        guard let text = givenValue ?? (value.isOptional ? nil : remainingWords.popFirst()) else {
            if !value.isOptional { problems.append("missing value for \(spelling): expected \(value.expectation)") }
            arguments.values[option.name] = .some(nil)
            return
        }
        if !value.accepts(text) {
            var names: [String] = []
            if case .words(let words) = value.completion { names = words }
            let hint = Suggestion.text(for: text, among: names)
            problems.append("invalid value \"\(text)\" for \(spelling): expected \(value.expectation)\(hint)")
        }
        arguments.values[option.name] = text
        arguments.repeatedValues[option.name, default: []].append(text)
    }

    private mutating func checkOperands() {
        let operands = command.operands
        if arguments.operands.count < operands.count.lowerBound {
            problems.append("missing operand \(operands.synopsis)")
        }
        if arguments.operands.count > operands.count.upperBound {
            let operand = arguments.operands[operands.count.upperBound]
            problems.append("unexpected operand \"\(operand)\"")
        }
    }
}
