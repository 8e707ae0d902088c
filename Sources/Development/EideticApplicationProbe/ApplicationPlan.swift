import EideticCore
import EideticProbeWords

/// The behaviour of the application, from its arguments.
struct ApplicationPlan: Sendable {
    /// The file of ``ProbeWord``.
    let words: SharedWords
    /// A Boolean value indicating whether four threads open and close tasks at random.
    var isStorm = false
    /// A Boolean value indicating whether a task is opened in `didEnterBackground`, and ended after it.
    var opensTaskInBackground = false
    var exitsAfterLaunch = false
    /// The number of begin and end pairs whose leftovers are counted.
    var pairCount = 0
    var measuresPairs = false
    /// The FIFO of commands.
    var commandPath: String?

    init(_ arguments: ArraySlice<String>) throws {
        var rest = arguments
        var path = "/dev/null"
        while let argument = rest.popFirst() {
            switch argument {
            case "--storm": isStorm = true
            case "--task-in-background": opensTaskInBackground = true
            case "--exit-after-launch": exitsAfterLaunch = true
            case "--measure-pairs": measuresPairs = true
            case "--words": path = rest.popFirst() ?? path
            case "--pairs": pairCount = rest.popFirst().flatMap { Int($0) } ?? 0
            case "--commands": commandPath = rest.popFirst()
            default: throw EideticError(.invalidArgument, message: "unknown option \(argument)")
            }
        }
        words = try SharedWords(path: path, count: ProbeWord.count)
    }
}
