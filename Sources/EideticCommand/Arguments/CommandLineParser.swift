/// Reads a command line by the description of the commands.
///
/// The usual rules: `--name value`, `--name=value`, `-h`; options and operands in any order; `--` ends the options; `-`
/// is an operand. All that is wrong is reported at once.
struct CommandLineParser {
    /// What a command line asks for.
    enum Outcome: Sendable {
        /// To run the last command of the path.
        case run([Command], Arguments)
        /// To explain the last command of the path.
        case help([Command])
        /// To name the version.
        case version
        /// Nothing that can be done; each problem is a line.
        case failure([Command], problems: [String])
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

    /// Reads the words after the program's name.
    static func parse(_ words: [String], root: Command) -> Outcome {
        var parser = CommandLineParser(root: root, words: words)
        return parser.resolveCommand() ?? parser.parseArguments()
    }

    private var command: Command { path[path.count - 1] }

    /// Goes down to the command that is meant; gives an outcome where the search ends before one.
    private mutating func resolveCommand() -> Outcome? {
        while !command.subcommands.isEmpty {
            guard let word = remainingWords.popFirst() else {
                return .failure(path, problems: ["a command is missing"])
            }
            if word == "--help" || word == "-h" { return .help(path) }
            if word == "--version", path.count == 1 { return .version }
            guard let next = command.subcommands.first(where: { $0.name == word }) else {
                return .failure(path, problems: [unknownCommand(word)])
            }
            path.append(next)
        }
        return nil
    }

    private func unknownCommand(_ word: String) -> String {
        let options = ["--help"] + (path.count == 1 ? ["--version"] : [])
        if word.hasPrefix("-") { return unknownOption(word, among: options) }
        let hint = Suggestion.text(for: word, among: command.subcommands.map(\.name))
        return "there is no command \"\(word)\"\(hint)"
    }

    private func unknownOption(_ word: String, among names: [String]) -> String {
        "there is no option \(word)\(Suggestion.text(for: word, among: names))"
    }

    private mutating func parseArguments() -> Outcome {
        while let word = remainingWords.popFirst() {
            if word == "--" {
                arguments.operands += remainingWords
                break
            }
            if word.hasPrefix("--") {
                parseOption(word)
            } else if word.hasPrefix("-"), word.count > 1 {
                parseShortOptions(word)
            } else {
                arguments.operands.append(word)
            }
        }
        if isHelpRequested { return .help(path) }
        checkOperands()
        return problems.isEmpty ? .run(path, arguments) : .failure(path, problems: problems)
    }

    private mutating func parseOption(_ word: String) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let option = command.allOptions.first(where: { "--" + $0.name == parts[0] }) else {
            problems.append(unknownOption(parts[0], among: command.allOptions.map { "--" + $0.name }))
            return
        }
        record(option, spelling: parts[0], value: parts.count == 2 ? parts[1] : nil)
    }

    /// Reads `-h`; the last of several letters may take a value.
    private mutating func parseShortOptions(_ word: String) {
        for letter in word.dropFirst() {
            guard let option = command.allOptions.first(where: { $0.letter == letter }) else {
                problems.append("there is no option \(word.count == 2 ? word : "-\(letter) in \(word)")")
                return
            }
            record(option, spelling: "-\(letter)", value: nil)
        }
    }

    private mutating func record(_ option: Option, spelling: String, value given: String?) {
        if option.name == Option.help.name { isHelpRequested = true }
        guard let value = option.value else {
            if given != nil { problems.append("\(spelling) takes no value") }
            arguments.values[option.name] = .some(nil)
            return
        }
        guard let text = given ?? (value.isOptional ? nil : remainingWords.popFirst()) else {
            if !value.isOptional { problems.append("\(spelling) needs \(value.expectation)") }
            arguments.values[option.name] = .some(nil)
            return
        }
        if !value.accepts(text) { problems.append("\(spelling) needs \(value.expectation), not \"\(text)\"") }
        arguments.values[option.name] = text
        arguments.repeatedValues[option.name, default: []].append(text)
    }

    private mutating func checkOperands() {
        let operands = command.operands
        if arguments.operands.count < operands.count.lowerBound {
            problems.append("\(operands.synopsis) is missing")
        }
        if arguments.operands.count > operands.count.upperBound {
            let extra = arguments.operands[operands.count.upperBound]
            problems.append("\"\(extra)\" is more than \(command.name) takes")
        }
    }
}
