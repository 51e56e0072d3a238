//! A device, its limits, its errors, and waiting for it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use wgpu::{Adapter, Buffer, BufferUsages, Device, Limits, PollType, Queue, SubmissionIndex};

use super::adapter::describe;
use crate::options::WorkLimits;
use crate::{Error, Result};

/// A driver that has not answered after this long will not.
const PATIENCE: Duration = Duration::from_secs(120);
/// Drivers misbehave beyond this, whatever they grant.
const MOST_BUFFER: u64 = 1 << 30;

/// A started device.
#[derive(Debug)]
pub struct Context {
    /// wgpu's device.
    pub device: Device,
    /// Its queue.
    pub queue: Queue,
    /// How reports describe it.
    pub description: crate::report::Device,
    /// What was granted.
    pub limits: Limits,
    failure: Arc<Mutex<Option<String>>>,
}

impl Context {
    /// Starts an adapter with its own limits, at most `work`, of which 0 counts as 1.
    ///
    /// # Errors
    /// [`Error::Device`] with the driver's words.
    pub fn new(adapter: &Adapter, work: &WorkLimits) -> Result<Self> {
        let description = describe(&adapter.get_info());
        let mut limits = adapter.limits();
        let binding = work.binding_bytes.unwrap_or(u64::MAX).min(MOST_BUFFER);
        limits.max_storage_buffer_binding_size = limits.max_storage_buffer_binding_size.min(binding);
        limits.max_buffer_size = limits.max_buffer_size.min(MOST_BUFFER);
        let dimension = &mut limits.max_compute_workgroups_per_dimension;
        *dimension = work.workgroups.unwrap_or(u32::MAX).clamp(1, *dimension);
        limits.max_texture_dimension_2d = work.texture_side.unwrap_or(u32::MAX).min(limits.max_texture_dimension_2d);
        let request = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("vatbake"),
            required_limits: limits.clone(),
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        });
        let (device, queue) = pollster::block_on(request)
            .map_err(|e| Error::Device(format!("'{}' did not start: {e}; --device cpu bakes without it", description.name)))?;
        let failure = Arc::new(Mutex::new(None));
        let note = |failure: &Arc<Mutex<Option<String>>>, text: String| {
            if let Ok(mut slot) = failure.lock() {
                slot.get_or_insert(text);
            }
        };
        let (on_error, on_loss) = (failure.clone(), failure.clone());
        device.on_uncaptured_error(Arc::new(move |error| note(&on_error, error.to_string())));
        device.set_device_lost_callback(move |reason, text| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                note(&on_loss, format!("the device was lost ({text})"));
            }
        });
        Ok(Self { device, queue, description, limits, failure })
    }

    /// A buffer of at least 64 bytes: a binding holds at least one element of its array, even where nothing reads it.
    ///
    /// # Errors
    /// [`Error::Device`] where it is larger than the device allows.
    pub fn buffer(&self, label: &str, bytes: u64, usage: BufferUsages) -> Result<Buffer> {
        let size = bytes.max(64).next_multiple_of(4);
        let most = if usage.contains(BufferUsages::STORAGE) {
            self.limits.max_storage_buffer_binding_size.min(self.limits.max_buffer_size)
        } else {
            self.limits.max_buffer_size
        };
        if size > most {
            return Err(Error::Device(format!(
                "{label} take {size} bytes, more than the {most} that '{}' allows in one buffer; choose fewer nodes with --only, or --device cpu",
                self.description.name
            )));
        }
        Ok(self.device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false }))
    }

    /// A storage buffer with contents.
    ///
    /// # Errors
    /// As [`Self::buffer`].
    pub fn storage(&self, label: &str, bytes: &[u8]) -> Result<Buffer> {
        let buffer = self.buffer(label, bytes.len() as u64, BufferUsages::STORAGE | BufferUsages::COPY_DST)?;
        self.queue.write_buffer(&buffer, 0, bytes);
        Ok(buffer)
    }

    /// Waits until a submission is done and its callbacks have run.
    ///
    /// # Errors
    /// [`Error::Device`] where the driver failed, was lost, or does not answer.
    pub fn wait(&self, submission: SubmissionIndex) -> Result<()> {
        let polled = self.device.poll(PollType::Wait { submission_index: Some(submission), timeout: Some(PATIENCE) });
        self.check()?;
        polled.map(|_| ()).map_err(|e| self.failed(&format!("no answer after {} s ({e})", PATIENCE.as_secs())))
    }

    /// Fails where the driver has reported an error.
    ///
    /// # Errors
    /// [`Error::Device`] with the driver's words.
    pub fn check(&self) -> Result<()> {
        let failure = self.failure.lock().ok().and_then(|slot| slot.clone());
        failure.map_or(Ok(()), |text| Err(self.failed(&text)))
    }

    /// An error that names the device.
    pub fn failed(&self, what: &str) -> Error {
        Error::Device(format!(
            "'{}' failed: {what}; a smaller --memory cuts the work into smaller pieces, --device cpu bakes without it",
            self.description.name
        ))
    }
}
