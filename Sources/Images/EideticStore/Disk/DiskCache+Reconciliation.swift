import EideticCore

extension DiskCache {
    /// Schedules a comparison of the ledger with the files if the machine has restarted since the ledger was written.
    ///
    /// A power cut may have lost files, or records of files.
    func scheduleReconciliationIfNeeded() {
        let isNeeded = ledger.withLock { ledger in
            defer { ledger.isReconciliationScheduled = true }
            return ledger.needsReconciliation && !ledger.isReconciliationScheduled
        }
        guard isNeeded else { return }
        schedule {
            $0.reconcileAll(context: $1)
        } onRefusal: {
            $0.postponeReconciliation()
        }
    }

    /// Lets the next write schedule the comparison again.
    private func postponeReconciliation() { ledger.withLock { $0.isReconciliationScheduled = false } }

    private func reconcileAll(context: JobContext) {
        do throws(SystemError) {
            for shard in DiskLayout.shards {
                if context.isCancelled { return postponeReconciliation() }
                try inTransaction { ledger throws(SystemError) in try ledger.reconcile(shard: shard) }
            }
            try inTransaction { ledger throws(SystemError) in
                ledger.needsReconciliation = false
                try ledger.rewrite()
            }
        } catch {
            Log.write(.warning, category: .store, message: "\(layout.directory) could not be reconciled: \(error)")
        }
    }
}
