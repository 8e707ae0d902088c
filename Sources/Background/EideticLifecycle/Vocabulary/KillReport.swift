/// The report of a kill, for people and programs.
package struct KillReport {
    package let text: String

    /// The largest number of bytes for task names; the remaining names are counted.
    private static let maximumNameByteCount = 2_000

    // As in "killed, code 0x8badf00d: applicationDidEnterBackground took too long; open tasks: upload, flush".
    package init(reason: KillReason, openTasks: [String]) {
        let digits = String(reason.code, radix: 16)
        let code = String(repeating: "0", count: 8 - digits.count) + digits
        let tasks = openTasks.isEmpty ? "" : "; open tasks: \(Self.joined(openTasks))"
        text = "killed, code 0x\(code): \(Self.explanation(of: reason))\(tasks)"
    }

    /// Joins as many names as one line holds; control characters are replaced, so that a name cannot start another
    /// line.
    private static func joined(_ names: [String]) -> String {
        var list = ""
        var left = names.count
        for name in names {
            let bytes = name.utf8.prefix(maximumNameByteCount).map { $0 < 0x20 || $0 == 0x7f ? UInt8(ascii: "?") : $0 }
            let clean = String(decoding: bytes, as: UTF8.self)
            if list.utf8.count + clean.utf8.count > maximumNameByteCount, !list.isEmpty {
                return "\(list) and \(left) more"
            }
            list += list.isEmpty ? clean : ", \(clean)"
            left -= 1
        }
        return list
    }

    private static func explanation(of reason: KillReason) -> String {
        switch reason {
        case .watchdog(let callback): "\(name(of: callback)) took too long"
        case .backgroundTask: "background tasks were open after their expiry"
        case .session: "a session's events were not completed in time"
        case .wake: "a wake was not completed in time"
        case .lockHeld: "a contended file lock was held at suspension"
        case .memory: "memory was exhausted"
        case .userForceQuit: "terminated by the user"
        case .terminatedWhileSuspended: "terminated while suspended"
        }
    }

    /// Returns the name of a callback as users of the delegate know it.
    package static func name(of callback: LifecycleCallback) -> String {
        switch callback {
        case .launch, .launchInBackground: "the launch"
        case .didBecomeActive: "applicationDidBecomeActive"
        case .willResignActive: "applicationWillResignActive"
        case .didEnterBackground: "applicationDidEnterBackground"
        case .willEnterForeground: "applicationWillEnterForeground"
        case .openURL(let url): "opening \(url)"
        case .wake: "a wake"
        case .willTerminate: "applicationWillTerminate"
        }
    }
}
