//! The position in a stream of examples, and the stream's length. Most sources keep these two numbers.

use crate::source::SourceError;

/// A position in a stream of examples, and the stream's length.
///
/// ```
/// use lao_observation::Cursor;
///
/// let mut cursor = Cursor::new(10);
/// assert_eq!(cursor.upcoming(4), 4);
/// cursor.advance(8);
/// assert_eq!((cursor.position(), cursor.upcoming(4)), (8, 2));
/// cursor.seek(3)?;
/// assert_eq!(cursor.upcoming(4), 4);
/// assert!(cursor.seek(11).is_err());
/// # Ok::<(), lao_observation::SourceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    position: u64,
    length: u64,
}

impl Cursor {
    /// Returns the cursor at the start of a stream of `length` examples.
    pub const fn new(length: u64) -> Cursor {
        Cursor { position: 0, length }
    }

    /// Returns the cursor at the start of a stream without end.
    pub const fn endless() -> Cursor {
        Cursor::new(u64::MAX)
    }

    /// Returns the cursor at the same position in a stream of `length` examples. A stream that ends before
    /// this position is dry.
    pub const fn with_length(self, length: u64) -> Cursor {
        Cursor { length, ..self }
    }

    /// Returns the index of the next example, from 0.
    #[inline]
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Returns the number of examples of the stream, those passed included.
    #[inline]
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Returns how many of the next `most` examples there are; 0 when the stream is dry.
    #[inline]
    pub fn upcoming(&self, most: usize) -> usize {
        self.length.saturating_sub(self.position).min(most as u64) as usize
    }

    /// Passes this number of examples, at most as many as [`upcoming`](Self::upcoming) returned.
    #[inline]
    pub fn advance(&mut self, examples: usize) {
        self.position += examples as u64;
    }

    /// Goes to a position of the stream, which may be its end.
    ///
    /// # Errors
    /// [`SourceError::Seek`] if the position lies beyond the end.
    pub fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        if position > self.length {
            return Err(SourceError::Seek { position, end: self.length });
        }
        self.position = position;
        Ok(())
    }
}
