//! Predictions by the study's predictor.

use super::StudyPages;
use crate::http::{Form, Reply};
use crate::predict::{Answer, answer, fields};
use hyper::StatusCode;
use lao_study::StudyError;
use minijinja::context;

impl StudyPages {
    /// Returns the form with the columns that the predictor reads.
    pub(super) fn predict_form(&self) -> Result<Reply, StudyError> {
        let study = self.open()?;
        let model = study.model();
        let values = context! {
            at => "predict",
            target => &model.target,
            fields => fields(&model, &Form::default()),
        };
        Ok(self.page(StatusCode::OK, "predict.html", values))
    }

    /// Returns a prediction beside what was typed.
    pub(super) fn predicted(&self, form: &Form) -> Result<Reply, StudyError> {
        let study = self.open()?;
        let (model, noise) = (study.model(), study.noise());
        drop(study);
        let Answer { status, values } = answer(&model, form, Some(noise));
        let page = context! {
            at => "predict", target => &model.target, fields => fields(&model, form), ..values
        };
        Ok(self.page(status, "predict.html", page))
    }
}
