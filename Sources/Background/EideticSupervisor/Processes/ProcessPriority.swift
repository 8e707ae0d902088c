import CSupervisor

/// The scheduling priority of processes.
enum ProcessPriority {
    /// Sets the priority, from -20 (first) to 19 (last); has no effect on processes of others.
    static func set(_ priority: Int32, of process: Int32) { _ = eidetic_set_priority(process, priority) }
}
