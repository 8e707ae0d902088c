import EideticBackground
import EideticCore
import Glibc

/// A program that plays sound for the application, as long as it runs.
struct Player: Sendable {
    let command: String
    let application: Application

    /// Starts the program, and holds the assertion until it has ended.
    func start() {
        application.beginAudio()
        let words: [String] = ["/bin/sh", "-c", "exec \(command)"]
        var arguments = words.map { strdup($0) }
        arguments.append(nil)
        var child: pid_t = 0
        guard posix_spawn(&child, words[0], nil, nil, &arguments, environ) == 0 else { exit(4) }
        printLine("player \(child)")
        Thread.start(name: "player") { [child] in
            waitpid(child, nil, 0)
            printLine("player ended")
            application.endAudio()
        }
    }
}
