//! A dense f32 tensor, row-major.

/// Weights are `[out, in]`, activations `[tokens, width]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensor {
    pub shape: Vec<usize>,
    pub data: Vec<f32>,
}

impl Tensor {
    /// # Panics
    /// When the shape does not hold exactly the data.
    pub fn new(shape: impl Into<Vec<usize>>, data: Vec<f32>) -> Self {
        let shape = shape.into();
        assert_eq!(shape.iter().product::<usize>(), data.len(), "a shape holds its data");
        Self { shape, data }
    }

    pub fn zeros(shape: impl Into<Vec<usize>>) -> Self {
        let shape = shape.into();
        let data = vec![0.0; shape.iter().product()];
        Self { shape, data }
    }

    /// The length of the last dimension; 1 for a scalar.
    pub fn width(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    /// How many rows of `width` it has.
    pub fn rows(&self) -> usize {
        self.data.len().checked_div(self.width()).unwrap_or(0)
    }

    pub fn row(&self, index: usize) -> &[f32] {
        &self.data[index * self.width()..(index + 1) * self.width()]
    }

    pub fn row_mut(&mut self, index: usize) -> &mut [f32] {
        let width = self.width();
        &mut self.data[index * width..(index + 1) * width]
    }

    /// The last row: the logits of the next token when these are logits.
    pub fn last(&self) -> &[f32] {
        &self.data[self.data.len() - self.width().min(self.data.len())..]
    }
}
