import EideticBackground
import EideticCore
import Glibc

/// An application for tests: it prints its callbacks, and behaves as its arguments say.
enum BackgroundProgram {
    static func run(_ arguments: [String]) async {
        do throws(EideticError) {
            try await BackgroundProbe(plan: BackgroundPlan(arguments: arguments[...])).run()
        } catch {
            printLine("error \(error)")
            exit(2)
        }
    }
}
