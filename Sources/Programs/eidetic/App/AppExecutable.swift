import Glibc

/// The program `eidetic-app` beside this one, which has the commands `eidetic app …` without the libraries of codecs.
enum AppExecutable {
    private static let name = "eidetic-app"

    /// Executes the program with the words after `eidetic app`; returns if it is not installed, as the commands are a
    /// part of this program too.
    static func execute(_ words: ArraySlice<String>) {
        guard let path else { return }
        var arguments = ([name] + words).map { strdup($0) }
        arguments.append(nil)
        execv(path, arguments)
        for argument in arguments { free(argument) }
    }

    /// The path in the directory of this program, with links resolved.
    private static var path: String? {
        guard let own = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(own) }
        let directory = String(cString: own).split(separator: "/").dropLast().map { "/\($0)" }.joined()
        return "\(directory)/\(name)"
    }
}
